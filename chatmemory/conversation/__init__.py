"""Conversations: their messages and summaries.

``contract.py`` says what a chat memory promises, ``messages.py`` and ``messages.py`` what it takes and gives,
``message_rules.py`` what input must obey, ``message_repository.py`` what a backend implements, ``chat_memory_live.py`` how
the promises are kept; ``strategies/`` decides when a summary is due and writes it.
"""
