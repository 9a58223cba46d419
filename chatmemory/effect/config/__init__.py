"""Settings as values: where they are read from, how raw data becomes classes, and what can be wrong with them."""
