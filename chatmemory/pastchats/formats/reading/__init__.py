"""The modules that formats read with: bytes, lines, JSON, instants, text."""
