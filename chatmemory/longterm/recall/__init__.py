"""Recall: what is asked, who is a candidate, how candidates are scored and ranked, and what is told."""
