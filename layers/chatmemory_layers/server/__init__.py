"""The servers: the HTTP API with its page (``main.py``), and the MCP server (``mcp_main.py``)."""
