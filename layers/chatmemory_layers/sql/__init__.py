"""The code that SQLite and PostgreSQL share: columns, and requests as parameters of statements."""
