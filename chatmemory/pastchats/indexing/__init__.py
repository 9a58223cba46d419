"""Indexing past chats: reads histories, and cleans, numbers, embeds and stores their turns."""
