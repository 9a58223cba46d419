"""Memory in one SQLite file: needs no server, is open to several processes at once, and acknowledges only durable writes."""
