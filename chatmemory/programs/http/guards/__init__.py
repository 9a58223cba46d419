"""The guards: ASGI applications that check a request before they pass it to the application inside them.

``app`` puts them around the operations.  A guard does not depend on what it protects, so the MCP server uses them too.
"""
