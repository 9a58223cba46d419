"""The names of settings in the environment, and whether any is set; ``configuration.py`` reads their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PREFIX: Final = "CHATMEMORY"
PLAIN: Final = ("MEMORY_RETRIEVAL_LIMIT",)
"""Variables that are heard without the prefix, too: spec 002 names them so."""

CONFIG: Final = "CHATMEMORY_CONFIG"
"""Where the file of the settings is; no setting itself."""

TEST_DSN: Final = "CHATMEMORY_TEST_DSN"
"""The PostgreSQL server on which tests may create databases; no setting either."""

DEBUG: Final = "CHATMEMORY_DEBUG"
"""Switches development mode on (``chatmemory.effect.debug``); no setting either."""


def is_set(name: str) -> bool:
    """Return whether a variable of this name is, or would be, a setting."""
    return (name.startswith(f"{PREFIX}_") and name not in {CONFIG, DEBUG, TEST_DSN}) or name in PLAIN


def is_anything_set(environment: Mapping[str, str]) -> bool:
    """Return whether the environment says anything about settings."""
    return any(map(is_set, environment))
