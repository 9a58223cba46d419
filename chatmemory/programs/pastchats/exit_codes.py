"""What a command returns to the shell: a number for each kind of failure, the only table of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

if TYPE_CHECKING:
    from chatmemory.effect.config.config_error import ConfigError
    from chatmemory.errors import PastChatsError

FINDINGS: Final = 1  # doctor found an error; index could not read a path that it was given, or nothing at all
UNWRITABLE: Final = 1  # nobody takes the answer: the disk is full, or the reader has gone
HARMLESS: Final = 1  # a hook that is called wrongly: 2 would make an agent drop what a person has typed
USAGE: Final = 2  # a misspelt option, a missing argument; click's number
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells have it

EXPLANATION: Final = """\
Exit codes: 0 success (also if nothing was found), 1 doctor found an error, index could not read a given path, import
could read nothing, or the output could not be written, 2 wrong usage, 3 invalid input, 4 unknown source, 5 the index cannot be used, 6 the embedder failed,
7 invalid configuration."""


def exit_code(error: PastChatsError | ConfigError) -> int:
    """Return the number of *error*."""
    from chatmemory.effect.config.config_error import ConfigError
    from chatmemory.errors import (
        DataValidationError,
        EmbeddingError,
        GenericMemoryError,
        PromptNotFoundError,
    )

    match error:
        case DataValidationError():
            return 3
        case PromptNotFoundError():
            return 4
        case GenericMemoryError():
            return 6 if isinstance(error.reason, EmbeddingError) else 5
        case ConfigError():
            return 7
        case _:
            assert_never(error)
