"""Owners of conversations and memories, and the rights of the principal that uses them.

``namespace.py`` defines an owner, ``principal.py`` defines rights and the principal of the running code.
"""
