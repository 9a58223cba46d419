"""The readers of the histories of each tool: one module for each format, and the modules that they share."""
