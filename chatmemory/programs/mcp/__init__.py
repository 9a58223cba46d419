"""The MCP server: memory as tools, prompts and resources that an agent can use (``pastchats-memory mcp``).

``tool.py`` defines what a tool is, ``server.py`` answers every request, and ``http_app.py`` adds the guards for serving
over HTTP.  Recalled text is always inside the fence of ``recalled_block.py``, in the text and in the structured answer,
because some hosts show their model the one and some the other.  Outside of the fence there are only ids, numbers and
the server's own words.
"""
