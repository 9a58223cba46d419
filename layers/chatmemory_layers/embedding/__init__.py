"""Embedders, which turn texts into vectors: ``static`` and ``hashed`` offline, ``sentence_transformers`` in this process, ``openai_compatible`` over HTTP.

``from_settings.py`` returns the embedder that the settings name.
"""
