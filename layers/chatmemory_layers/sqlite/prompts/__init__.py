"""Past chats in a SQLite file."""

from typing import Final

APPLICATION_ID: Final = 0x70636861
"""``pcha``, as ``file`` and similar programs show it."""

NEWEST: Final = 4
"""The number of the last step in ``PROMPT_MIGRATIONS``."""
