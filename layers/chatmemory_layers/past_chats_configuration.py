"""The settings of past chats, for a command that is over in a moment.

Mostly nothing is set, and nothing needs to be loaded that reads, checks or holds other settings; where something is, it
is read as ``configuration.py`` reads it, mistakes included.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from chatmemory.effect.outcome import Success
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.setting_names import is_anything_set

if TYPE_CHECKING:
    from chatmemory.effect import Outcome
    from chatmemory.effect.config.config_error import ConfigError


class PastChatsPart(NamedTuple):
    """What past chats need to know of the settings."""

    past_chats: PastChatsSettings
    embedding: EmbeddingSettings


def read_past_chats_settings(
    path: str | os.PathLike[str] | None = None, *, environment: Mapping[str, str] | None = None
) -> Outcome[PastChatsPart, ConfigError]:
    """Read the settings of past chats, or fail with everything that is wrong with any setting.

    Args:
        path: the TOML file; None: there is none.
        environment: None: that of this process.
    """
    environment = os.environ if environment is None else environment
    if path is None and not is_anything_set(environment):
        return Success(PastChatsPart(PastChatsSettings(), EmbeddingSettings()))
    from chatmemory_layers.configuration import read_settings

    read = read_settings(path, environment=environment)
    if isinstance(read, Success):
        memory = read.unwrap().memory
        return Success(PastChatsPart(memory.past_chats, memory.embedding))
    return read
