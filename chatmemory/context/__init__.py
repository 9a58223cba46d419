"""Builds the context that a model receives: instructions, recalled memories and messages, within a token budget."""
