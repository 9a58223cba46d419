"""Finds and reads chat histories in the file system of this machine."""
