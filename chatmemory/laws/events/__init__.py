"""The laws of the log: what each change leaves in it."""
