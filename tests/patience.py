"""``PATIENCE_SECONDS``: how long a test waits for what comes at once on an idle machine."""

from typing import Final

PATIENCE_SECONDS: Final = 120.0
"""A guard against what hangs.  Nothing is judged by it: the busiest machine answers sooner."""
