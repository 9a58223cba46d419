"""``installed_formats``: the formats that distributions register as entry points ``chatmemory.formats``.

The formats of chatmemory are registered in the same way.  A format of your own needs this in ``pyproject.toml``:

    [project.entry-points."chatmemory.formats"]
    my_tool = "my_package.my_tool:my_tool"

``chatmemory.laws.HistoryFormatLaws`` tests whether it is a good one.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast, final

from attrs import frozen

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import DataValidationError, Problem
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.history_format import HistoryFormat

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "chatmemory.formats"
_MEMBERS: Final = ("name", "version", "has_global_ids", "known_roots", "claim", "parse")


@final
@frozen
class Formats:
    """The usable formats, by name, and an issue for each plugin that could not be loaded."""

    by_name: Mapping[str, HistoryFormat]
    issues: tuple[HistoryIssue, ...] = ()


def installed_formats() -> Outcome[Formats, DataValidationError]:
    """Load the formats of all installed distributions.

    Fails when two of them register one name, because a conversation id ``name:id`` would be ambiguous.
    """
    # Slow to import, and not needed by a recall.
    from importlib.metadata import entry_points

    return formats_of(entry_points(group=GROUP))


def formats_of(points: "Iterable[EntryPoint]") -> Outcome[Formats, DataValidationError]:
    """Load the formats that *points* name, sorted by name."""
    by_name: dict[str, EntryPoint] = {}
    problems: list[Problem] = []
    # Not sorted by distribution: reading the name of an entry point's distribution reads the whole README.
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        other = by_name.setdefault(point.name, point)
        if other is not point:
            both = f"{_distribution(other)} ({other.value}) and {_distribution(point)} ({point.value})"
            problems.append(
                Problem(f"$.formats.{point.name}", f"registered by {both}: uninstall one of them")
            )
    if problems:
        return Failure(DataValidationError(tuple(problems)))
    loaded = {name: _loaded(point) for name, point in by_name.items()}
    return Success(
        Formats(
            {name: found for name, found in loaded.items() if not isinstance(found, HistoryIssue)},
            tuple(found for found in loaded.values() if isinstance(found, HistoryIssue)),
        )
    )


def _distribution(point: "EntryPoint") -> str:
    return "an unnamed distribution" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _loaded(point: "EntryPoint") -> HistoryFormat | HistoryIssue:
    try:
        found: object = point.load()
        missing = [member for member in _MEMBERS if not hasattr(found, member)]
        format_ = cast("HistoryFormat", found)
        if not missing and format_.name != point.name:
            return _broken(point, f"it is registered as {point.name!r} and calls itself {format_.name!r}")
    except Exception as reason:  # noqa: BLE001  importing what others wrote raises whatever they please
        return _broken(point, f"{type(reason).__name__}: {reason}")
    return _broken(point, f"it has no {', '.join(missing)}") if missing else format_


def _broken(point: "EntryPoint", reason: str) -> HistoryIssue:
    return HistoryIssue(
        "reader_failed", point.value, f"format {point.name!r} of {_distribution(point)}: {reason}"
    )
