"""``DataValidationError``: the input breaks rules; ``Problem`` is one of them."""

from typing import Literal, final

from attrs import frozen


@final
@frozen
class Problem:
    """One broken rule: *path* points into the input as ``$.messages[2].content`` does."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} @ {self.path}"


@final
@frozen
class DataValidationError:
    """The input breaks rules; nothing was stored."""

    problems: tuple[Problem, ...]
    tag: Literal["DataValidationError"] = "DataValidationError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the same input breaks the same rules."""
        return False

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))
