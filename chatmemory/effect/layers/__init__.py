"""Layers: what they are, how a graph of them is planned, and what opens and closes it."""
