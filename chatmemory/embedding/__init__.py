"""Embedders: their contract, the spaces of their vectors, and the guard that pauses a failing one."""
