"""``Json``: the type of JSON values, and their conversion into text and back.

``json_object``, ``json_text`` and others read values from other programs: one of an unexpected type counts as missing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  "Json" is a string
JsonObject: TypeAlias = Mapping[str, Json]

EMPTY: Final[JsonObject] = {}

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


def readable(text: str) -> str:
    """Return the JSON *text* as it is, or in ASCII if it has half a character, which no file and no store takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text))
    return text


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


def json_object(value: Json) -> JsonObject:
    """Return *value* if it is a JSON object, otherwise an empty object."""
    # dict first: a check against the abstract class takes several times as long.
    return value if isinstance(value, (dict, Mapping)) else EMPTY


def json_items(value: Json) -> Sequence[Json]:
    """Return *value* if it is a JSON array, otherwise an empty array."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def json_objects(value: Json) -> Iterator[JsonObject]:
    """Yield the objects among the items of *value*."""
    for item in json_items(value):
        if isinstance(item, (dict, Mapping)):
            yield item


def value_at(value: Json, *path: str) -> Json:
    """Return the value at *path*, one key per nested object; None if there is none."""
    for key in path:
        value = json_object(value).get(key)
    return value


def json_text(value: Json) -> str:
    """Return *value* if it is a string, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def first_text(record: JsonObject, *keys: str) -> str:
    """Return the first string that is not empty under one of *keys*, in their order; "" if there is none."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def without_blanks(fields: JsonObject) -> JsonObject:
    """Return *fields* without empty values: None, and empty strings, arrays and objects."""
    return {key: value for key, value in fields.items() if value not in (None, "", [], {}, ())}


def first_said(*values: Json) -> str:
    """Return the first of *values* that is a string with more than white space; "" if there is none."""
    return next((value for value in values if isinstance(value, str) and value.strip()), "")
