"""The file system of this machine, as past chats see it: where histories lie, and their bytes."""
