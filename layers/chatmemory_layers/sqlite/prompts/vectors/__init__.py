"""The vectors of turns: a search scans one-bit codes, then compares the vectors of the nearest."""
