"""Streams: values that come one after the other, when a consumer pulls them."""
