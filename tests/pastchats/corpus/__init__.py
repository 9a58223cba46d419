"""Texts with secrets and texts without: the measure of redaction."""
