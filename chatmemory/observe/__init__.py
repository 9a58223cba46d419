"""What an operator sees: counts and spans of every operation."""
