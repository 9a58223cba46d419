"""Statements about attributes in Chinese."""
