"""Redaction: keys, tokens and passwords are taken out before anything is stored."""
