"""Validators that several settings share."""

import re
from typing import TYPE_CHECKING, Any, Final, Literal, final, get_args, get_origin

from attrs import frozen, validators

if TYPE_CHECKING:
    from attrs import Attribute


@final
@frozen
class OneOf:
    """The validator of a setting with one of *choices*."""

    choices: tuple[object, ...]

    def __call__(self, _settings: object, field: "Attribute[object]", value: object) -> None:
        """Raise ``ValueError`` for any other *value*."""
        if value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            msg = f"{field.name}: expected one of {known}, not {value!r}"
            raise ValueError(msg)


@final
@frozen
class Matching:
    """The validator of a text that matches *pattern*; unlike that of attrs it does not show a text that it refuses.

    Attributes:
        pattern: a regular expression for the whole text.
        expected: the same rule in words.
    """

    pattern: str
    expected: str

    def __call__(self, _settings: object, field: "Attribute[str]", value: str) -> None:
        """Raise ``ValueError`` for any other *value*."""
        if not re.fullmatch(self.pattern, value):
            msg = f"{field.name}: expected {self.expected}"
            raise ValueError(msg)


@final
@frozen
class Number:
    """The validator of a number that *validator* accepts, too; a comparison with another type has no useful message."""

    kind: type[int | float]
    validator: Any

    def __call__(self, settings: object, field: "Attribute[Any]", value: object) -> None:
        """Raise ``ValueError`` for any other *value*."""
        is_number = isinstance(value, int | self.kind)
        if not is_number:
            expected = "a whole number" if self.kind is int else "a number"
            msg = f"{field.name}: expected {expected}, not {value!r}"
            raise ValueError(msg)
        self.validator(settings, field, value)


POSITIVE: Final = Number(int, validators.ge(1))
NOT_NEGATIVE: Final = Number(int, validators.ge(0))
SOME_TIME: Final = Number(float, validators.gt(0.0))
"""A number of seconds above 0."""


def literals_checked(_settings: type, fields: "list[Attribute[Any]]") -> "list[Attribute[Any]]":
    """Add a validator to each field with a ``Literal`` type, for programs without a type checker."""
    return [
        field.evolve(validator=OneOf(get_args(field.type))) if get_origin(field.type) is Literal else field
        for field in fields
    ]
