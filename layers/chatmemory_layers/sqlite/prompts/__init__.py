"""Past chats in a SQLite file."""
