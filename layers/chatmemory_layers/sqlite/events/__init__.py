"""The log of events, in SQLite."""
