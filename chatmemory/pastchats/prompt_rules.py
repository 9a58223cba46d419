"""The rules for the arguments of past chats; ``input/rules.py`` has the rules for each kind of value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatmemory import errors
from chatmemory.input.choices import Role
from chatmemory.input.rules import any_text_problems, choice_problems, instant_problems, sequence_problems
from chatmemory.pastchats.prompt import PromptFilter

if TYPE_CHECKING:
    from chatmemory.errors import Problem


def filter_problems(which: object) -> list[Problem]:
    """Return every broken rule of a filter of turns."""
    if not isinstance(which, PromptFilter):
        return [errors.Problem("$.which", f"expected PromptFilter, not {type(which).__name__}")]
    return [
        *names_problems("$.which.projects", which.projects),
        *roles_problems("$.which.roles", which.roles),
        *names_problems("$.which.formats", which.formats),
        *names_problems("$.which.conversations", which.conversations),
        *instant_problems("$.which.since", which.since),
        *instant_problems("$.which.until", which.until),
    ]


def names_problems(path: str, names: object) -> list[Problem]:
    """Return every broken rule of a sequence of texts that are only compared."""
    return sequence_problems(path, names, any_text_problems)


def roles_problems(path: str, roles: object) -> list[Problem]:
    """Return every broken rule of a sequence of roles."""
    return sequence_problems(path, roles, lambda place, role: choice_problems(place, role, Role))
