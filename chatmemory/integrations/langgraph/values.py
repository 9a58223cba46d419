"""What comes from outside as our contract has it: names, values, what of a value is found, lifetimes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final, cast

from chatmemory.items.item_repository import ItemName, Labels

OWNER: Final = "langgraph"
"""The first label, see ``Labels``; LangGraph itself keeps namespaces that begin so for itself."""

LONGEST_MINUTES: Final = 1000 * 366 * 1440.0  # a date can be named for its end

# json.dumps would make an encoder for each value, json.loads would look for space around what was written by us.
_readable_json: Final = json.JSONEncoder(ensure_ascii=False).encode
_read_here: Final = json.JSONDecoder().raw_decode


def item_name(namespace: Sequence[str], key: str) -> ItemName:
    """Return the name of an item.

    Raises:
        TypeError: *key* is no string.
        ValueError: no store can hold it.
    """
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]  from outside
        msg = f"a key is a string, not {type(key).__name__}"
        raise TypeError(msg)
    return ItemName(labels_of(namespace), _storable(key, "key"))


def labels_of(namespace: Sequence[str]) -> Labels:
    """Return the labels of a LangGraph namespace, with the label of this integration before them.

    Raises:
        ValueError: a label contains characters that no store can keep.
    """
    return _labels(tuple(namespace))


@lru_cache(512)  # many items share a namespace
def _labels(namespace: tuple[str, ...]) -> Labels:
    return (OWNER, *[_storable(label, "namespace label") for label in namespace])


def namespace_of(labels: Labels) -> tuple[str, ...]:
    """Return the namespace again."""
    return labels[1:]


def _storable(text: str, what: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            msg = f"a {what} has half a character (a lone surrogate)"
            raise ValueError(msg) from error
    if "\0" in text:
        msg = f"a {what} has a NUL"
        raise ValueError(msg)
    return text


def json_text(value: Mapping[str, Any]) -> str:
    """Write *value*.

    Raises:
        TypeError: it is no JSON.
    """
    text = _readable_json(value if isinstance(value, dict) else dict(value))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character comes back as it was, from its escape
        return json.dumps(value)
    return text


def read_json(text: str) -> Any:
    """Read a value again."""
    return _read_here(text)[0]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text and number in *value*, without the names of fields, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[object]", value):
            yield from texts_in(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def lifetime_of(minutes: float | None) -> timedelta | None:
    """Return how long an item stays; None: always.

    Raises:
        ValueError: not at all.
    """
    if minutes is None:
        return None
    if not minutes > 0:  # NaN as well
        msg = f"ttl is a number of minutes above 0, not {minutes!r}"
        raise ValueError(msg)
    return timedelta(minutes=min(minutes, LONGEST_MINUTES))
