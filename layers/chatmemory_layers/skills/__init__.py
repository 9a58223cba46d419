"""Skill runners: ``extractive`` offline, ``openai_compatible`` over HTTP, ``functions`` for the user's own functions."""
