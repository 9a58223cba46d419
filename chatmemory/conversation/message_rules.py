"""The rules for messages that callers give: each problem is found, with its path, before anything is written or read."""

from collections.abc import Mapping, Sequence
from typing import Final, cast, get_args

from chatmemory.conversation.new_message import NewMessage
from chatmemory.errors.caller_errors import Problem
from chatmemory.input.choices import Role
from chatmemory.input.rules import (
    id_problem,
    instant_problem,
    metadata_problems,
    text_problem,
)
from chatmemory.text.long_work import is_long

_ROLES: Final = get_args(Role)  # a tuple: a role of a wrong type may be unhashable


CHECKED_AT_ONCE: Final = 500
"""The number of messages that are checked in a millisecond."""


def is_long_batch(messages: object) -> bool:
    """Return whether a batch takes long to check: it has many messages, or metadata with many members."""
    if not isinstance(messages, (list, tuple)):
        return False
    given = cast("Sequence[object]", messages)
    if len(given) > CHECKED_AT_ONCE:
        return True
    metadata = [found for message in given if (found := getattr(message, "metadata", None)) is not None]
    return bool(metadata) and is_long(metadata)


def message_problems(messages: object) -> list[Problem]:
    """Return every broken rule of a batch, each at ``$.messages[index].field``."""
    # Usually it is a list; isinstance with Sequence is slow.
    if not isinstance(messages, (list, tuple)) and (
        isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence)
    ):
        return [Problem("$.messages", f"expected a sequence of NewMessage, not {type(messages).__name__}")]
    problems: list[Problem] = []
    for index, message in enumerate(cast("Sequence[object]", messages)):
        _check_message(index, message, problems)
    return problems


def _check_message(index: int, message: object, problems: list[Problem]) -> None:
    if not isinstance(message, NewMessage):
        kind = type(message).__name__
        cure = "; chatmemory.input.structure makes one of JSON" if isinstance(message, Mapping) else ""
        expected = f"expected NewMessage, not {kind}{cure}"
        problems.append(Problem(f"$.messages[{index}]", expected))
        return
    if message.role not in _ROLES:
        unknown = f"unknown role {message.role!r}: one of {', '.join(sorted(_ROLES))}"
        problems.append(Problem(f"$.messages[{index}].role", unknown))
    if (problem := text_problem(message.content)) is not None:
        problems.append(Problem(f"$.messages[{index}].content", problem))
    if message.id is not None and (problem := id_problem(message.id)) is not None:
        problems.append(Problem(f"$.messages[{index}].id", problem))
    if message.timestamp is not None and (problem := instant_problem(message.timestamp)) is not None:
        problems.append(Problem(f"$.messages[{index}].timestamp", problem))
    if message.metadata is not None:
        problems.extend(metadata_problems(f"$.messages[{index}].metadata", message.metadata))
    if message.role == "summary" and not _names_its_origin(message.metadata):
        origin = 'the metadata of a summary must name its origin: {"summaryMetadataId": "..."}'
        problems.append(Problem(f"$.messages[{index}].metadata", origin))


def _names_its_origin(metadata: object) -> bool:
    if not isinstance(metadata, Mapping):
        return False
    return isinstance(cast("Mapping[object, object]", metadata).get("summaryMetadataId"), str)
