"""Finding in past chats: search, recall, and what the recalled turns show."""
