"""``Json``: what JSON can say, as Python sees it; and where the JSON of others stands in it."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  "Json" is a string
JsonObject: TypeAlias = Mapping[str, Json]

AS_GIVEN: Final = "asGiven"
"""Where in the metadata of a message, or in the value of a memory, adapters keep it as their frameworks wrote it.

The content says it a second time: it costs no tokens, and nothing is found by it.
"""
