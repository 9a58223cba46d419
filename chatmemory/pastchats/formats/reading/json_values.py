"""Reads fields of JSON from other programs: a value of an unexpected type counts as missing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chatmemory.input.json_value import Json, JsonObject

EMPTY: Final[JsonObject] = {}


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
