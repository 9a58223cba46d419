"""Readers of other tools' exports: they keep times and origins, and report what does not fit."""
