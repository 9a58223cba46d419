"""Long-term memory: what outlives a conversation, how it is found again, and how it comes out of what was said."""
