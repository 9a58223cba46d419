"""Search and recall in past chats, and whether recalled turns show that an answer worked."""
