"""Who did what, in PostgreSQL."""
