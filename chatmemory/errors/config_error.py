"""The problems that a configuration can have, as values: each problem has its path, and one error holds all of them."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias, final

from attrs import frozen


@final
@frozen
class MissingKey:
    """No value is configured at *path*, and the setting lacks a default."""

    path: str
    tag: Literal["MissingKey"] = "MissingKey"

    def __str__(self) -> str:
        return f"{self.path}: required, but missing"


@final
@frozen
class InvalidValue:
    """The value at *path* has the wrong type or breaks a rule."""

    path: str
    message: str
    tag: Literal["InvalidValue"] = "InvalidValue"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@final
@frozen
class UnreadableSource:
    """*source*, a file for example, could not be read."""

    source: str
    message: str
    tag: Literal["UnreadableSource"] = "UnreadableSource"

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


ConfigProblem: TypeAlias = MissingKey | InvalidValue | UnreadableSource


@final
@frozen
class ConfigError:
    """The configuration cannot be used; *problems* are all its problems, in the order of its classes."""

    problems: tuple[ConfigProblem, ...]
    tag: Literal["ConfigError"] = "ConfigError"
    retry_is_safe: ClassVar[bool] = False  # the same configuration has the same problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))
