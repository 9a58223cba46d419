"""Histories that lie in SQLite: what is read of each store (``sqlite_stores.py``), and what its rows say."""
