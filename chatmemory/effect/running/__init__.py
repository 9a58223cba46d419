"""Runtimes: they build a layer, run effects with its services, and release it."""
