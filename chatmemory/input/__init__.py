"""What may come in: JSON values, roles, rules, page cursors, and raw data structured into classes."""
