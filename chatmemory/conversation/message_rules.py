"""The rules for messages that come in: every problem with its path, before anything is written."""

from collections.abc import Mapping, Sequence
from typing import Final, cast, get_args

from chatmemory.conversation.new_message import NewMessage
from chatmemory.errors.caller_errors import Problem
from chatmemory.input.choices import Role
from chatmemory.input.rules import id_problem, instant_problem, metadata_problems, text_problem

_ROLES: Final = get_args(Role)  # a tuple: a role of a wrong type may have no hash


def message_problems(messages: object) -> list[Problem]:
    """Return every broken rule of a batch, each at ``$.messages[index].field``."""
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
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
        origin = 'a summary names its origin: {"summaryMetadataId": "..."}'
        problems.append(Problem(f"$.messages[{index}].metadata", origin))


def _names_its_origin(metadata: object) -> bool:
    if not isinstance(metadata, Mapping):
        return False
    return isinstance(cast("Mapping[object, object]", metadata).get("summaryMetadataId"), str)
