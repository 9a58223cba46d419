"""Formats of command line agents and editors that write one JSON record per line."""
