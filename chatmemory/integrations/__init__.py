"""Integrations of agent frameworks: one module for each framework; nothing else in the package imports them."""
