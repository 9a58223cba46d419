"""Runs the reads and writes of a SQLite file."""
