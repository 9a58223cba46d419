"""Past chats: reading the histories of many tools, keeping their turns, finding them again."""
