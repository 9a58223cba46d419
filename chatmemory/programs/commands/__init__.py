"""The ``chatmemory`` commands, which read and change the same store as ``chatmemory serve``.

A command parses its arguments, runs one effect and prints its value as text; the effect does not depend on the terminal.
"""
