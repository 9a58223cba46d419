"""Items: documents of agent frameworks, kept by namespace and key."""
