"""A stranger's package: a backend, a strategy, a skill and a clock of their own, an embedder, an extractor and a ranking,
written against the public contracts.
"""
