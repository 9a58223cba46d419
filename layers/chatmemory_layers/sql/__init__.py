"""What SQLite and PostgreSQL share: columns, and requests made ready for a statement."""
