"""The event log of a store: what changed, when, by whom and why, without the text of messages and memories."""
