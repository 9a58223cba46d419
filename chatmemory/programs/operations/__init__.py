"""What the HTTP API and the MCP server say alike: who may do what, what they refuse, and the operations that both have.

``programs/http`` and ``programs/mcp`` are the doors: how a request arrives, and how its answer looks.
"""
