"""The laws of services over any repository."""
