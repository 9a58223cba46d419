"""``json_members``: the members of a list in a JSON document, one at a time; ``texts_beside``: the texts next to the list."""

from collections.abc import Iterator, Mapping

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.json_values import EMPTY
from chatmemory.pastchats.formats.reading.json_walk import End, WalkPath, walk


def json_members(
    reader: HistoryReader, *lists: tuple[str, ...]
) -> Iterator[tuple[WalkPath, Json] | HistoryIssue]:
    """Yield the members of each of *lists* with their paths, in the order of the file, and an issue for each damage.

    Args:
        reader: gives the document.
        lists: the paths of the lists: ``("messages",)``, or ``()`` for a document that is a list.

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
    """Yield the objects of the list at *path*, and an issue for each member that is not an object.

    Args:
        reader: gives the document.
        path: the keys that lead to the list; no keys for a document that is a list.
        called: the name of a member in the issue.

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
    """Return the texts of the document outside of *lists*, before or after them.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    return {
        str(found[0][0]): found[1]
        for found in walk(reader, *((name,) for name in lists))
        if not isinstance(found, HistoryIssue) and len(found[0]) == 1 and isinstance(found[1], str)
    }


def whole_object(reader: HistoryReader) -> JsonObject:
    """Return the object in a small file; an empty object when the file is damaged or holds no object.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    for found in walk(reader):
        if not isinstance(found, HistoryIssue) and isinstance(found[1], Mapping):
            return found[1]
    return EMPTY
