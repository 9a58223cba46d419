"""The laws of the log: the event that each change leaves."""
