"""The laws of message repositories."""
