"""What reads the histories of each tool: one file for each format, and the tools that they share."""
