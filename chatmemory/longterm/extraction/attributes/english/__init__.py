"""Statements about attributes in English."""
