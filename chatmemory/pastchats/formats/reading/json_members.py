"""The members of a list in a JSON document, one at a time, and the texts that stand beside it: what most readers walk for."""

from collections.abc import Iterator, Mapping

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.json_values import EMPTY
from chatmemory.pastchats.formats.reading.json_walk import End, WalkPath, walk


def json_members(
    reader: HistoryReader, *lists: tuple[str, ...]
) -> Iterator[tuple[WalkPath, Json] | HistoryIssue]:
    """Yield the members of each of *lists* with their paths, in the order of the file, and what is damaged.

    Args:
        reader: gives the document.
        lists: where they lie: ``("messages",)``, or ``()`` for a document that is a list.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    for found in walk(reader, *lists):
        if isinstance(found, HistoryIssue):
            yield found
        elif found[0] and found[0][:-1] in lists and not isinstance(found[1], End):
            yield found[0], found[1]


def object_members(
    reader: HistoryReader, *path: str, called: str = "a message"
) -> Iterator[JsonObject | HistoryIssue]:
    """Yield the objects of the list at *path*, and an issue for each member that is none.

    Args:
        reader: gives the document.
        path: the keys that lead to the list; none for a document that is a list.
        called: what a member is called in the issue.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    for found in json_members(reader, path):
        if isinstance(found, HistoryIssue):
            yield found
        elif isinstance(found[1], Mapping):
            yield found[1]
        else:
            detail = f"{called} that is no object, the {found[0][-1]}."
            yield HistoryIssue("malformed_record", reader.path, detail)


def texts_beside(reader: HistoryReader, *lists: str) -> dict[str, str]:
    """Return the texts that the document holds beside *lists*, before or behind them.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    return {
        str(found[0][0]): found[1]
        for found in walk(reader, *((name,) for name in lists))
        if not isinstance(found, HistoryIssue) and len(found[0]) == 1 and isinstance(found[1], str)
    }


def whole_object(reader: HistoryReader) -> JsonObject:
    """Return the object that a small file holds; an empty one where it is damaged or holds none.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    for found in walk(reader):
        if not isinstance(found, HistoryIssue) and isinstance(found[1], Mapping):
            return found[1]
    return EMPTY
