"""The formats of other coding tools, one file each."""
