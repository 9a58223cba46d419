"""Sessions of Visual Studio Code as a log of mutations: ``{"kind", "k", "v", "i"}``, one per line.

Kind 0 gives the whole state, 1 sets the value at the path ``k``, 2 cuts the list at ``k`` off at ``i`` and appends
``v``, 3 deletes.  The log is read twice: first to find which requests remain at its end and which line changes each
of them last, then to yield each request after its last change.  So memory holds one request, not the session.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, cast, final

from attrs import define, evolve, field, frozen

from chatmemory.input.json_value import Json, JsonObject, json_items, json_object
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.history_format import HistoryBytes, HistoryReader
from chatmemory.pastchats.formats.reading.json_lines import JsonLine, json_lines
from chatmemory.pastchats.formats.reading.json_walk import End, walk

_SET: Final = 1
_PUSH: Final = 2
_DELETE: Final = 3
_SNAPSHOT: Final = 0

REQUEST_FIELDS: Final = frozenset(
    {
        "requestId",
        "message",
        "response",
        "responseId",
        "timestamp",
        "modelId",
        "isCanceled",
        "isSystemInitiated",
        "slashCommand",
        "result",
        "variableData",
    }
)
"""The fields of a request that are kept; the others describe how it was displayed."""

_Path: TypeAlias = tuple[str | int, ...]


@final
@frozen
class _Mutation:
    """One entry of the log; a whole state is split into one entry for each of its fields and requests."""

    kind: int
    path: _Path
    value: Json
    at: int | None
    line: int


def session_fields(reader: HistoryReader) -> dict[str, Json]:
    """Return the plain fields of the session, with their values at the end of the log."""
    fields: dict[str, Json] = {}
    for one in _mutations(reader):
        if isinstance(one, _Mutation) and len(one.path) == 1 and isinstance(one.value, str | int | float):
            fields[str(one.path[0])] = one.value
    return fields


def logged_requests(reader: HistoryReader) -> Iterator[JsonObject | HistoryIssue]:
    """Yield the requests that remain at the end of the log, in their order, and the lines that could not be read."""
    survey = _Survey()
    for one in _mutations(reader):
        if isinstance(one, _Mutation):
            survey.meet(one)
    left = deque(survey.requests)
    state: dict[int, dict[str, Json]] = {}
    again = _Survey(is_wanted=frozenset(left), state=state)
    for one in _mutations(reader):
        if isinstance(one, HistoryIssue):
            yield one
            continue
        again.meet(one)
        while left and left[0] in state and survey.touched[left[0]] <= one.line:
            yield state.pop(left.popleft())


@final
@define
class _Survey:
    """The requests at a line of the log; each gets a number when it appears.

    Attributes:
        requests: the numbers of the requests that exist now.
        touched: by number, the last line that changes the request.
        state: by number in *is_wanted*, the current state of the request.
    """

    requests: list[int] = field(factory=list[int])
    touched: dict[int, int] = field(factory=dict[int, int])
    is_wanted: frozenset[int] = frozenset()
    state: dict[int, dict[str, Json]] = field(factory=dict[int, dict[str, Json]])

    def meet(self, one: _Mutation) -> None:
        """Apply *one*; a change at a path that does not exist is ignored."""
        if one.path[:1] != ("requests",):
            return
        if len(one.path) == 1:
            start = one.at if one.kind == _PUSH else 0
            if start is not None:
                del self.requests[start:]
            if one.kind != _DELETE:
                self.requests.extend(self._new(request, one.line) for request in json_items(one.value))
            return
        place, within = one.path[1], one.path[2:]
        if not isinstance(place, int) or not 0 <= place < len(self.requests):
            return
        number = self.requests[place]
        if not within:
            self.requests[place] = self._new(one.value, one.line)
        elif within[0] in REQUEST_FIELDS:
            self.touched[number] = one.line
            if number in self.state:
                _change(self.state[number], within, one)

    def _new(self, request: Json, line: int) -> int:
        number = len(self.touched)
        self.touched[number] = line
        if number in self.is_wanted:
            members = json_object(request).items()
            self.state[number] = {name: value for name, value in members if name in REQUEST_FIELDS}
        return number


def _change(request: dict[str, Json], path: _Path, one: _Mutation) -> None:
    """Change the value of *request* at *path*, if the path exists."""
    holder: Json = request
    for step in path[:-1]:
        holder = _member(holder, step)
    last = path[-1]
    if one.kind == _PUSH:
        held = _member(holder, last)
        kept = list(json_items(held))
        if one.at is not None:
            del kept[one.at :]
        if isinstance(held, list):
            # In place: a list that grows line by line becomes long.
            held[:] = [*kept, *json_items(one.value)]
        else:
            _put(holder, last, [*kept, *json_items(one.value)])
    else:
        _put(holder, last, one.value if one.kind == _SET else None)


def _member(holder: Json, step: str | int) -> Json:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    items = json_items(holder)
    return items[step] if isinstance(step, int) and 0 <= step < len(items) else None


def _put(holder: Json, step: str | int, value: Json) -> None:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
    elif isinstance(holder, list) and isinstance(step, int) and 0 <= step <= len(holder):
        holder[step : step + 1] = [value]


def _mutations(reader: HistoryReader) -> Iterator[_Mutation | HistoryIssue]:
    """Yield the mutations of the log; the first line is parsed as a stream, because it may be too large for memory."""
    first = _Part(reader.path, lambda: _first_line(reader.blocks()))
    others = _Part(reader.path, lambda: _other_lines(reader.blocks()))
    for found in walk(first, ("v", "requests")):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        path, value = found
        if path == ("kind",) and value != _SNAPSHOT:
            yield from _from_lines(reader, lines_before=0)
            return
        if isinstance(value, End) or path[:1] != ("v",):
            continue
        if path[:2] == ("v", "requests") and len(path) > len(("v", "requests")):
            yield _Mutation(_PUSH, ("requests",), [value], None, 1)
        else:
            yield _Mutation(_SET, path[1:], value, None, 1)
    yield from _from_lines(others, lines_before=1)


def _from_lines(reader: HistoryBytes, *, lines_before: int) -> Iterator[_Mutation | HistoryIssue]:
    for found in json_lines(reader):
        if isinstance(found, JsonLine):
            yield from _of_entry(json_object(found.value), found.line + lines_before)
        elif lines_before:  # the offset counts from this part
            yield evolve(found, line=(found.line or 0) + lines_before, offset=None)
        else:
            yield found


def _of_entry(entry: JsonObject, line: int) -> Iterator[_Mutation]:
    kind, path, at = entry.get("kind"), json_items(entry.get("k")), entry.get("i")
    if kind == _SNAPSHOT:
        yield _Mutation(_DELETE, ("requests",), None, None, line)
        for name, value in json_object(entry.get("v")).items():
            yield _Mutation(_SET, (name,), value, None, line)
    elif kind in (_SET, _PUSH, _DELETE) and path:
        steps = tuple(step for step in path if isinstance(step, str | int))
        yield _Mutation(cast("int", kind), steps, entry.get("v"), at if isinstance(at, int) else None, line)


@final
@frozen
class _Part:
    """A part of a file, as ``HistoryBytes``."""

    path: str
    blocks: Callable[[], Iterator[bytes]]


def _first_line(blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        head, newline, _ = block.partition(b"\n")
        yield head
        if newline:
            return


def _other_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        _, newline, rest = block.partition(b"\n")
        if newline:
            yield rest
            yield from blocks
