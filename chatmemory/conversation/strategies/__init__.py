"""History strategies: when a summary is due, what it covers, and the durable work that writes it."""
