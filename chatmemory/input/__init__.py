"""The types and rules of input: JSON values, roles, rules, page cursors, and raw data structured into classes."""
