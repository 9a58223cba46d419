"""The steps that an index of past chats has gone through.

How steps are taken and noted is said in ``migrations.py``, what they make in ``prompt_tables.py``.
"""

from typing import Final

from chatmemory_layers.sqlite.engine.migrations import CREATE_LEDGER, Migration
from chatmemory_layers.sqlite.prompts.prompt_tables import CONVERSATION_STATEMENTS, PROMPT_STATEMENTS
from chatmemory_layers.sqlite.prompts.prompt_version import APPLICATION_ID, NEWEST

PROMPT_MIGRATIONS: Final = (
    Migration(
        1,
        "past chats",
        (
            CREATE_LEDGER,
            *PROMPT_STATEMENTS,
            f"PRAGMA application_id = {APPLICATION_ID}",
            "PRAGMA user_version = 1",
        ),
    ),
    Migration(2, "lists of conversations", (*CONVERSATION_STATEMENTS, f"PRAGMA user_version = {NEWEST}")),
)
