"""Cleaning: replaces what a store cannot keep, and marks the turn (spec, point 16).

Histories hold NUL, lone surrogates, bytes that are not UTF-8 (which arrive as lone surrogates, by ``surrogateescape``),
NaN and infinities, and texts of any length.  Everything else stays exactly as it is.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import isfinite
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import Json
from chatmemory.input.rules import is_encodable, joined_surrogates
from chatmemory.pastchats.formats.histories import Lossy

LONGEST_TEXT: Final = 1_000_000  # characters: more than a model reads at once, less than a batch holds
LONGEST_ID: Final = 4_096  # characters: paths are ids too
LONGEST_NOTE: Final = 16_384  # characters of one text within metadata
DEEPEST: Final = 16  # levels of metadata
MOST_MEMBERS: Final = 1_000  # of one object or array within metadata
MOST_PARTS: Final = 5_000  # of all metadata of a turn
GREATEST_INTEGER: Final = 2**63  # what every JSON reader and SQLite can hold

REPLACEMENT: Final = "\ufffd"
_BROKEN: Final[tuple[tuple[Lossy, re.Pattern[str]], ...]] = (
    ("bad_utf8", re.compile("[\udc80-\udcff]")),
    ("surrogate", re.compile("[\ud800-\udfff]")),
)


@final
@define
class Cleaning:
    """Cleans the texts of one turn, and records what was lost."""

    _lost: dict[Lossy, None] = field(factory=dict[Lossy, None])
    _parts_left: int = MOST_PARTS

    @property
    def lost(self) -> tuple[Lossy, ...]:
        """The kinds of losses, each once."""
        return tuple(self._lost)

    def text(self, text: str, *, longest: int = LONGEST_TEXT) -> str:
        r"""Return *text* without what a store cannot keep.

        >>> cleaning = Cleaning()
        >>> cleaning.text("a\0b\ud83ec \ud83e\udd23 d\udcff"), cleaning.lost
        ('a\ufffdb\ufffdc 🤣 d\ufffd', ('nul', 'bad_utf8', 'surrogate'))
        """
        if len(text) > longest:
            text = text[:longest]
            self._lost["truncated"] = None
        if "\0" in text:
            text = text.replace("\0", REPLACEMENT)
            self._lost["nul"] = None
        return text if is_encodable(text) else self._without_surrogates(text)

    def _without_surrogates(self, text: str) -> str:
        text = joined_surrogates(text)
        for kind, pattern in _BROKEN:
            text, replaced = pattern.subn(REPLACEMENT, text)
            if replaced:
                self._lost[kind] = None
        return text

    def id(self, text: str) -> str:
        """Return an id that a store can keep; a long one is cut and gets a hash."""
        if len(text) <= LONGEST_ID:
            return self.text(text)
        whole = sha256(text.encode(errors="surrogatepass")).hexdigest()
        return f"{self.text(text, longest=LONGEST_ID - len(whole) - 1)}~{whole}"

    def metadata(self, given: Mapping[str, Json]) -> dict[str, Json]:
        """Return metadata as standard JSON.

        >>> Cleaning().metadata({"cost": float("nan"), "big": 10**30, "ok": [1, None]})
        {'cost': 'nan', 'big': '1000000000000000000000000000000', 'ok': [1, None]}
        """
        self._parts_left = MOST_PARTS
        return self._object(given, DEEPEST)

    def _object(self, given: Mapping[str, Json], depth: int) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for index, (name, value) in enumerate(given.items()):
            if self._is_full(index):
                break
            kept[self.text(str(name), longest=LONGEST_NOTE)] = self._value(value, depth)
        return kept

    def _value(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self.text(value, longest=LONGEST_NOTE)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float):
            return value if isfinite(value) else str(value)
        if isinstance(value, int):
            return value if -GREATEST_INTEGER <= value < GREATEST_INTEGER else self._digits(value)
        if depth == 0:
            self._lost["truncated"] = None
            return None
        if isinstance(value, Mapping):
            return self._object(value, depth - 1)
        if isinstance(value, list | tuple):
            return self._array(value, depth - 1)
        return self.text(str(value), longest=LONGEST_NOTE)  # not JSON: a mistake of the reader, kept as text

    def _array(self, given: Sequence[Json], depth: int) -> list[Json]:
        kept: list[Json] = []
        for value in given:
            if self._is_full(len(kept)):
                break
            kept.append(self._value(value, depth))
        return kept

    def _is_full(self, members: int) -> bool:
        """Return whether an object or array of *members* takes no further one; if it does, count that one."""
        is_full = members >= MOST_MEMBERS or self._parts_left == 0
        if is_full:
            self._lost["truncated"] = None
        else:
            self._parts_left -= 1
        return is_full

    def _digits(self, value: int) -> str:
        try:
            return str(value)
        except ValueError:  # Python writes no more than 4,300 digits
            self._lost["truncated"] = None
            return hex(value)[:LONGEST_NOTE]
