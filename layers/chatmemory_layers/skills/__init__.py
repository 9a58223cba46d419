"""What runs skills: ``extractive`` offline, ``openai_compatible`` over HTTP, ``functions`` of the user's own.

``chosen.py`` picks the one that the settings name.
"""
