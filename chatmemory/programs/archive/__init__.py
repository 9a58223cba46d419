"""Export and import of a whole store as JSON Lines: ``exporting.py``, ``importing.py``, ``records.py``."""
