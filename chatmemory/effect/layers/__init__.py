"""Layers: recipes for services, how they are planned and built, and how their resources are kept and released."""
