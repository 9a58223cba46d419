"""What a model receives: instructions, recalled memories and messages, put together within a budget."""
