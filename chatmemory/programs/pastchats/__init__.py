"""The ``pastchats-memory`` commands, which index years of agent chats, and search and recall them before a task.

A command parses its arguments, runs one effect and prints its value as text; the effect does not depend on the terminal.
"""
