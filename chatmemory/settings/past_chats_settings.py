"""``memory.pastChats``; see ``settings.py``."""

from typing import final

from attrs import field, frozen

from chatmemory.effect import Tag
from chatmemory.settings.setting_rules import POSITIVE, SOME_TIME


@final
@frozen(kw_only=True)
class PastChatsSettings:
    """``memory.pastChats``: histories of other tools, indexed and recalled.

    Attributes:
        path: the SQLite file of the index; empty: in the data folder of the platform; ``:memory:``: kept until its runtime
            ends.
        redact_secrets: whether keys, tokens and passwords of well-known shapes are taken out before anything is stored.
        exclude: globs of paths that are never indexed, parted by commas.
        recall_tokens: how long a recall is, at most, when the caller names no budget.
        hook_tokens: likewise for a recall that goes into a prompt by itself.
        busy_timeout_seconds: how long a write waits for writers of other processes.
        use_sqlite_vec: whether sqlite-vec compares vectors where it can be loaded; the answers are the same.
    """

    path: str = ""
    redact_secrets: bool = True
    exclude: str = ""
    recall_tokens: int = field(default=2000, validator=POSITIVE)
    hook_tokens: int = field(default=600, validator=POSITIVE)
    busy_timeout_seconds: float = field(default=30.0, validator=SOME_TIME)
    use_sqlite_vec: bool = True


class PastChatsSettingsTag(Tag[PastChatsSettings]):
    """Where layers provide ``PastChatsSettings``."""
