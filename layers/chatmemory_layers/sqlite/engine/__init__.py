"""What runs the reads and writes of a SQLite file."""
