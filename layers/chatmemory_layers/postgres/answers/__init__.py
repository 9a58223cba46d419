"""The first answers to requests that may be sent again, and writes that are done only once."""
