"""The log of events, in PostgreSQL."""
