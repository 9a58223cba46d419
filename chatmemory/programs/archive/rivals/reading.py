"""``read_rival``: reads the export of a tool by the tool's name."""

from collections.abc import Callable, Mapping
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.programs.archive.records import ExportEnd, RejectedRecord
from chatmemory.programs.archive.rivals import langgraph_store, letta, mem0, openai_agents, zep
from chatmemory.programs.archive.rivals.rival import Arrivals, RivalFile

RIVALS: Final[Mapping[str, Callable[[RivalFile, Namespace], Arrivals]]] = {
    "mem0": mem0.records,
    "letta": letta.records,
    "langgraph": langgraph_store.records,
    "openai-agents": openai_agents.records,
    "zep": zep.records,
}
"""By tool, what yields the records of an export; conversations, and memories without an owner, get the namespace."""


def read_rival(name: str, file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the records of an export of the tool *name*, one of ``RIVALS``; an unreadable file yields one ``RejectedRecord``.

    Records that have no owner in the export get *namespace*.
    """
    try:
        yield from RIVALS[name](file, namespace)
    except (ValueError, OSError) as error:
        yield RejectedRecord(f"{file.path.name} is not an export of {name}: {error}")
    else:
        yield ExportEnd()
