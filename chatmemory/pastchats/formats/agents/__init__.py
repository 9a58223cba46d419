"""Histories of agents of the command line and of editors that write one JSON record per line."""
