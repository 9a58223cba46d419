"""``pastchats-memory``: index years of agent chats, search and recall them before a task.

A command reads its arguments, runs one effect and prints its text; the effect knows nothing of the terminal.
"""
