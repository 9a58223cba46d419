"""Items in PostgreSQL."""
