"""Who did what, in SQLite."""
