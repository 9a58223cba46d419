"""The settings of ``memory.pastChats``."""

from typing import final

from attrs import field, frozen

from chatmemory.effect import Tag
from chatmemory.settings.setting_rules import POSITIVE, SOME_TIME


@final
@frozen(kw_only=True)
class PastChatsSettings:
    """``memory.pastChats``: how the histories of other tools are indexed and recalled.

    Attributes:
        path: the SQLite file of the index; empty: a file in the data folder of the platform; ``:memory:``: an index that
            exists only until its runtime is closed.
        redact_secrets: whether keys, tokens and passwords of well-known shapes are removed before anything is stored.
        exclude: globs of paths that are never indexed, separated by commas.
        recall_tokens: the largest size of a recall in tokens, when the caller gives no size.
        hook_tokens: the same for a recall that a hook adds to a prompt.
        busy_timeout_seconds: how long a write waits for writers of other processes.
        use_sqlite_vec: whether sqlite-vec compares the vectors when it can be loaded; the answers are the same.
    """

    path: str = ""
    redact_secrets: bool = True
    exclude: str = ""
    recall_tokens: int = field(default=2000, validator=POSITIVE)
    hook_tokens: int = field(default=600, validator=POSITIVE)
    busy_timeout_seconds: float = field(default=30.0, validator=SOME_TIME)
    use_sqlite_vec: bool = True


class PastChatsSettingsTag(Tag[PastChatsSettings]):
    """The tag under which layers provide ``PastChatsSettings``."""
