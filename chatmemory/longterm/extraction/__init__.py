"""Extraction: finds facts that are worth remembering in messages, by offline rules for English and Chinese or by a skill."""
