"""Observability: metrics, log records and spans of every operation."""
