"""Histories in SQLite: the rows that are read of each store (``sqlite_stores.py``), and the formats of these rows."""
