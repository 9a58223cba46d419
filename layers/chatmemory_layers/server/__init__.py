"""The servers: the HTTP API with its page (``serve_command.py``), and the MCP server (``mcp_main.py``); ``memory_host.py`` runs the commands."""
