"""The MCP server: what an agent may ask of memory, as tools and resources (``pastchats-memory mcp``).

``tool.py`` says what a tool is, ``server.py`` answers for all of them, ``http_app.py`` guards them where they are served
over HTTP.  What is recalled stands inside the fence of ``recalled_block.py``, in the text and in the structured answer
alike: hosts show models either.  Outside of it stand ids, numbers and our own words alone.
"""
