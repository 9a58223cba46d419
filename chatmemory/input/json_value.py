"""``Json``: the type of JSON values, and their conversion into text and back."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  "Json" is a string
JsonObject: TypeAlias = Mapping[str, Json]

AS_GIVEN: Final = "asGiven"
"""Where in the metadata of a message, or in the value of a memory, adapters keep it as their frameworks wrote it.

The content says it a second time: it costs no tokens, and nothing is found by it.
"""

# dumps would make an encoder each time, and loads look for space around the value: twice the time.
_write: Final = json.JSONEncoder(ensure_ascii=False, default=dict).encode
_read: Final = json.JSONDecoder().raw_decode


def to_json(value: Json) -> str | None:
    """Return *value* as JSON text, with Chinese readable; it may contain any kind of mapping.  None stays None."""
    return None if value is None else readable(_write(value))


def readable(json_text: str) -> str:
    """Return *json_text* as it is, or in ASCII if it has half a character, which no file and no store takes."""
    try:
        json_text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(json_text))
    return json_text


def from_json(text: str | None) -> Any:
    """Return the value of a JSON text; None stays None."""
    if text is None:
        return None
    value, end = _read(text)
    return value if end == len(text) else json.loads(text)


def same_json(one: str | None, other: str | None) -> bool:
    """Return whether two JSON texts have the same value: the order of keys is ignored; ``1``, ``1.0`` and ``true`` differ."""
    if one is None or other is None or one == other:
        return one == other
    return json.dumps(json.loads(one), sort_keys=True) == json.dumps(json.loads(other), sort_keys=True)
