"""Streams: values that come one after the other, pulled by whoever uses them."""
