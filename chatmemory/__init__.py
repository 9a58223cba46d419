"""Conversation memory and long-term memory for AI agents, as typed effects."""
