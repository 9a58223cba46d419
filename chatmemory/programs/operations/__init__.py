"""What the HTTP API and the MCP server share: the rights of clients, refusals, and the operations that both offer.

How requests arrive and how answers look is defined in ``programs/http`` and ``programs/mcp``.
"""
