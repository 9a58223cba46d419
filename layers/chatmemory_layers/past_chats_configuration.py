"""The settings of past chats, for a command that is over in a moment.

Mostly no setting is set, or a file sets past chats alone.  Then the modules that read, check or hold other settings need
not be loaded.  Otherwise ``configuration.py`` reads all settings, and reports all mistakes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chatmemory.effect.outcome import Success
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.setting_names import is_anything_set

if TYPE_CHECKING:
    from chatmemory.effect import Outcome
    from chatmemory.errors import ConfigError


class PastChatsPart(NamedTuple):
    """What past chats need to know of the settings."""

    past_chats: PastChatsSettings
    embedding: EmbeddingSettings


def read_past_chats_settings(
    path: str | os.PathLike[str] | None = None, *, environment: Mapping[str, str] | None = None
) -> Outcome[PastChatsPart, ConfigError]:
    """Read the settings of past chats, or fail with everything that is wrong with any setting.

    Args:
        path: the TOML file; None: only the environment counts.
        environment: the environment variables; None: the variables of this process.
    """
    environment = os.environ if environment is None else environment
    if path is None and not is_anything_set(environment):
        return Success(PastChatsPart(PastChatsSettings(), EmbeddingSettings()))
    if path is not None and not is_anything_set(environment) and (plain := _plain(path)) is not None:
        return Success(PastChatsPart(plain, EmbeddingSettings()))
    from chatmemory_layers.configuration import read_settings

    read = read_settings(path, environment=environment)
    if isinstance(read, Success):
        memory = read.unwrap().memory
        return Success(PastChatsPart(memory.past_chats, memory.embedding))
    return read


# By its name in the file: the attribute, and the only type that needs no reading.
_PLAIN: Final[Mapping[str, tuple[str, type]]] = {
    "path": ("path", str),
    "redactSecrets": ("redact_secrets", bool),
    "exclude": ("exclude", str),
    "recallTokens": ("recall_tokens", int),
    "hookTokens": ("hook_tokens", int),
    "busyTimeoutSeconds": ("busy_timeout_seconds", float),
    "useSqliteVec": ("use_sqlite_vec", bool),
}
_ENDLESS: Final = (float("inf"), float("-inf"))


def _plain(path: str | os.PathLike[str]) -> PastChatsSettings | None:
    """Return what a file says that sets past chats alone; None: it says more, or something wrong."""
    import tomllib

    try:
        with open(path, "rb") as file:  # noqa: PTH123  pathlib takes 4 ms to import
            table: dict[str, Any] = tomllib.load(file)
        memory = table.pop("memory", {})
        given = memory.pop("pastChats", {})
        is_plain = all(
            type(value) is _PLAIN[name][1] and value not in _ENDLESS for name, value in given.items()
        )
        if table or memory or not is_plain:
            return None
        return PastChatsSettings(**{_PLAIN[name][0]: value for name, value in given.items()})
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return None
