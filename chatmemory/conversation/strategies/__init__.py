"""History strategies, which decide when a summary is due and what it covers, and the durable work that writes it."""
