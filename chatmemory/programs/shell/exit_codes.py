"""``exit_code``: the exit code of each kind of failure, for both programs; ``explained``: its text, and the page that helps.

``CommandError`` carries a failure out of a command.  ``discard_unwritten`` drops output that nothing reads, so that the
interpreter does not fail on it at its end.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TypeVar, assert_never, cast

from chatmemory import errors
from chatmemory.extra import is_source

if TYPE_CHECKING:
    from chatmemory.effect import EffectFailed, Outcome
    from chatmemory.errors import ConfigError, RepositoryError, ServiceError

A = TypeVar("A")

FINDINGS: Final = 1  # doctor found an error; index or import could not read what it was given
UNWRITABLE: Final = 1  # output failed: the disk is full, or the reader has gone
HARMLESS: Final = 1  # a hook called with wrong options: 2 would make an agent drop the user's prompt
USAGE: Final = 2  # a misspelt option, a missing argument; click's number
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells have it

GUIDES: Final = {6: "configuration", 7: "configuration"}
GUIDE_OF_PROGRAM: Final = {"pastchats-memory": "past-chats", "chatmemory": "terminal"}


def explained(error: ServiceError | ConfigError, program: str) -> str:
    """Return the text of *error*; in a checkout, a second line names the page of docs/ that helps users of *program*."""
    if not is_source():
        return str(error)
    is_denied = isinstance(error, errors.AccessDeniedError)
    guide = "access" if is_denied else GUIDES.get(exit_code(error), GUIDE_OF_PROGRAM[program])
    return f"{error}\nhelp: docs/guides/{guide}.md"


def exit_code(error: ServiceError | ConfigError) -> int:
    """Return the exit code of *error*."""
    match error:
        case errors.DataValidationError():
            return 3
        case errors.PromptNotFoundError() | errors.ConversationNotFoundError() | errors.MemoryNotFoundError():
            return 4
        case errors.GenericMemoryError():
            return 6 if isinstance(error.reason, errors.EmbeddingError) else 5
        case errors.ConfigError():
            return 7
        case (
            errors.AccessDeniedError()
            | errors.MessageConflictError()
            | errors.MemoryConflictError()
            | errors.MemoryChangedError()
            | errors.VersionConflictError()
            | errors.NotUndoableError()
        ):
            return 8
        case _:
            assert_never(error)


class CommandError(Exception):
    """The effect of a command failed; *error* is its typed failure."""

    def __init__(self, error: ServiceError | ConfigError) -> None:
        """Wrap *error*, whose text is printed at the terminal."""
        super().__init__(str(error))
        self.error = error


def discard_unwritten() -> None:
    """Discard what standard output still buffers if it cannot be written: the disk is full, or the reader has gone."""
    try:
        sys.stdout.flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def value_of(outcome: Outcome[A, ServiceError | ConfigError]) -> A:
    """Return the value of *outcome*.

    Raises:
        CommandError: with the error of a failure.
    """
    from chatmemory.effect.outcome import Failure  # --help needs no effects

    if isinstance(outcome, Failure):
        raise CommandError(outcome.failure())
    return outcome.unwrap()


def command_error(failed: EffectFailed) -> CommandError:
    """Return the error of a command whose services, or whose server, could not be opened."""
    return CommandError(errors.memory_error(cast("RepositoryError | ConfigError", failed.error)))
