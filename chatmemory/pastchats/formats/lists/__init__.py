"""Formats that are plain lists of messages."""
