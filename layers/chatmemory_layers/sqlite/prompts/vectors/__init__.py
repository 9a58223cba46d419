"""The vectors of turns: one-bit codes that are scanned, and the rows that are then compared."""
