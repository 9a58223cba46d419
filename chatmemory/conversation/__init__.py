"""Conversations: their messages and summaries.

``contract.py`` defines the service, ``messages.py`` and ``new_message.py`` the values that it takes and returns,
``message_rules.py`` the rules for input, ``message_repository.py`` what a backend implements.  ``chat_memory_live.py``
implements the service; ``strategies/`` decides when a summary is due and writes it.
"""
