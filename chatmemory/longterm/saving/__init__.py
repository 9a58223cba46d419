"""The saving of memories: those that a caller gives, the turns of a session, and the facts that are found in messages."""
