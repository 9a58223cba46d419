"""Embedders, which turn texts into vectors: ``static`` and ``hashed`` offline, ``sentence_transformers`` in this process, ``openai_compatible`` over HTTP.

``from_settings.py`` chooses the one that the settings name.
"""
