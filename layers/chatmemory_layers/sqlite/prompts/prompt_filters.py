"""The rows of ``prompts`` that a ``PromptFilter`` selects, as a condition of constant text.

Parameters are named ``projects``, ``roles``, ``formats``, ``conversations``, ``since`` and ``until``; an empty field is
NULL, and selects every row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from chatmemory_layers.sqlite.prompts.prompt_row import instant_text

if TYPE_CHECKING:
    from chatmemory.pastchats.prompt import PromptFilter

# The left side of a comparison decides its collation: projects are compared without regard to case.
IS_MEANT: Final = """
(:projects IS NULL OR prompts.source_project COLLATE NOCASE IN (SELECT value FROM json_each(:projects)))
AND (:roles IS NULL OR prompts.role IN (SELECT value FROM json_each(:roles)))
AND (:formats IS NULL OR prompts.format IN (SELECT value FROM json_each(:formats)))
AND (:conversations IS NULL OR prompts.conversation_id IN (SELECT value FROM json_each(:conversations)))
AND (:since IS NULL OR prompts.timestamp >= :since)
AND (:until IS NULL OR prompts.timestamp < :until)
"""


def filter_parameters(which: PromptFilter) -> dict[str, str | None]:
    """Return the parameters of ``IS_MEANT``."""
    return {
        "projects": _names(which.projects),
        "roles": _names(which.roles),
        "formats": _names(which.formats),
        "conversations": _names(which.conversations),
        "since": instant_text(which.since),
        "until": instant_text(which.until),
    }


def _names(names: Sequence[str]) -> str | None:
    # Escaped: a name may contain a lone surrogate, which no statement accepts.
    return json.dumps(list(names)) if names else None
