"""JSON Schemas and the OpenAPI document, written from the classes."""
