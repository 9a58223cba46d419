"""Memory in one SQLite file: nothing to install beside it, several processes at once, durable when it says so."""
