"""The laws of memory repositories."""
