"""The formats of coding tools; other folders have those of Claude, of further agents, of web exports and of data sets."""
