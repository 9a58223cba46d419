"""Embedders: their contract, the spaces of their vectors, and the guard that keeps a failing one away."""
