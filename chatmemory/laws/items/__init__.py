"""The laws of item repositories."""
