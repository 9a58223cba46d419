"""Memories in a SQLite file."""
