"""Chat memory: the service, the history strategies, and the durable work that keeps a history short."""
