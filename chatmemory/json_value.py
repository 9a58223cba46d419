"""``Json``: what JSON can say, as Python sees it."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  "Json" is a string
JsonObject: TypeAlias = Mapping[str, Json]
