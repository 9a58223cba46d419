"""Recall: the search for candidates, their scores and their order, and the result of a recall."""
