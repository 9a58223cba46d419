"""``json_lines``: the records of a history with one JSON value per line; ``object_lines``: those that are objects."""

from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Final, cast, final

from attrs import frozen

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue, IssueCode
from chatmemory.pastchats.formats.history_format import HistoryBytes
from chatmemory.pastchats.formats.reading.text_lines import MAX_RECORD_BYTES, byte_lines

DECODER: Final = JSONDecoder(strict=False)  # control characters in strings are damage without loss

NOT_IN_JSON: Final = "\ufeff\x00 \t\r"
"""Characters that other writers leave around a record: a mark, blocks of NUL that a crash left, white space."""


@final
@frozen
class JsonLine:
    """A record, with the number of its line, from 1, and the position of the line in bytes."""

    value: Json
    line: int
    offset: int


def json_lines(reader: HistoryBytes) -> Iterator[JsonLine | HistoryIssue]:
    """Yield the records of *reader*, and an issue for each line without a record; blank lines are skipped.

    An incomplete line at the end of a file that is being written is a ``truncated_tail``.  Two records that two
    writers left in one line are two records.
    """
    decode = DECODER.decode
    for content, line, offset, ending in byte_lines(reader):
        if ending == "too_long":
            limit = f"a record of more than {MAX_RECORD_BYTES // 1024**2} MiB"
            yield HistoryIssue("too_large", reader.path, limit, line, offset)
            continue
        if not content or content.isspace():
            continue
        text = content.decode("utf-8", "surrogateescape")
        try:
            yield JsonLine(cast("Json", decode(text)), line, offset)
        except (ValueError, RecursionError) as reason:
            found, damage = _mended(text, reason)
            for value in found:
                yield JsonLine(value, line, offset)
            if damage is not None:
                code: IssueCode = "malformed_record" if ending == "newline" else "truncated_tail"
                yield HistoryIssue(code, reader.path, damage, line, offset)


def object_lines(
    reader: HistoryBytes, *, called: str = "a record"
) -> Iterator[tuple[JsonObject, int] | HistoryIssue]:
    """Yield the objects of ``json_lines``, each with the number of its line, and an issue for each line without one."""
    for found in json_lines(reader):
        if isinstance(found, HistoryIssue):
            yield found
        elif isinstance(found.value, dict):
            yield found.value, found.line
        else:
            detail = f"{called} is an object, this is {type(found.value).__name__}"
            yield HistoryIssue("malformed_record", reader.path, detail, found.line, found.offset)


def decoded(text: str) -> Json:
    """Return the value of a JSON text; None when it is damaged."""
    try:
        return cast("Json", DECODER.decode(text))
    except (ValueError, RecursionError):
        return None


def _mended(text: str, reason: Exception) -> tuple[list[Json], str | None]:
    """Return the values at the start of *text*, and the damage after them; None when there is no damage."""
    found: list[Json] = []
    rest = text.strip(NOT_IN_JSON)
    while rest:
        try:
            value, end = DECODER.raw_decode(rest)
        except (ValueError, RecursionError) as damage:
            return found, why(damage)
        if not isinstance(value, dict | list):
            # A bare word or number next to records is debris.
            return found, why(reason)
        found.append(cast("Json", value))
        rest = rest[end:].lstrip(NOT_IN_JSON)
    return found, None if found else why(reason)


def why(damage: Exception) -> str:
    """Return a short description of the damage of a JSON value."""
    if isinstance(damage, RecursionError):
        return "nested too deeply"
    if isinstance(damage, JSONDecodeError):
        return f"{why_no_json(damage)} at character {damage.pos + 1}"
    return f"no JSON: {damage}"  # an integer of more than 4,300 digits


def why_no_json(damage: JSONDecodeError) -> str:
    """Return the description without a position: some messages of the standard library end in "at", others do not."""
    return f"no JSON: {damage.msg.lower().removesuffix(' at').removesuffix(' starting')}"
