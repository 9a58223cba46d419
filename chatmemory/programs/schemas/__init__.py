"""JSON Schemas, generated from the classes."""
