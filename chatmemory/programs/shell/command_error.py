"""``CommandError``: raised when the effect of a command fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatmemory.errors import ConfigError, ServiceError


class CommandError(Exception):
    """The effect of a command failed; *error* is its typed failure."""

    def __init__(self, error: ServiceError | ConfigError) -> None:
        """Wrap *error*, whose text is printed at the terminal."""
        super().__init__(str(error))
        self.error = error
