"""The format of Cursor."""
