"""One log of events: what changed in a store, when, by whom and why; never a word of what was said."""
