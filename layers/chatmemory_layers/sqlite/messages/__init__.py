"""Messages in a SQLite file."""
