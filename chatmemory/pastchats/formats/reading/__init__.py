"""What formats read with: bytes, lines, JSON, instants, text."""
