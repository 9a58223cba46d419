"""Indexing past chats: what is read, cleaned, numbered, embedded and stored."""
