"""What makes vectors of texts: ``static`` and ``hashed`` offline, ``sentence_transformers`` here, ``openai_compatible`` over HTTP.

``from_settings.py`` picks the one that the settings name.
"""
