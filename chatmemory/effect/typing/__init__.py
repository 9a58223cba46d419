"""Declarations of effects for type checkers; nothing here does anything at run time."""
