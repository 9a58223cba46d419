"""Every contract in dictionaries: for tests, and for programs that need no memory after they end."""
