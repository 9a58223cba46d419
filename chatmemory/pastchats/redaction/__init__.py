"""Redaction: removes keys, tokens and passwords before anything is stored."""
