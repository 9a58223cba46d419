"""The handlers of the HTTP API: each module has the request and answer classes first, and its operations at the end."""
