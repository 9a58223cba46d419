"""The laws of history formats."""
