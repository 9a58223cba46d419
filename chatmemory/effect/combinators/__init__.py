"""The implementation of the methods of ``Effect``: concurrency, retries, time limits, scopes and spans."""
