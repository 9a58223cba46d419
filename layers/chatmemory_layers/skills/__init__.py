"""Skill runners: ``extractive`` offline, ``openai_compatible`` over HTTP, ``functions`` for the user's own functions.

``chosen.py`` returns the runner that the settings name.
"""
