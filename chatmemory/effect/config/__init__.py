"""Settings: where they are read from, how raw data becomes classes, and which problems they can have."""
