"""``read_rival``: reads the export of a tool by the tool's name."""

from collections.abc import Mapping
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.programs.archive.records import ExportEnd, Unfit
from chatmemory.programs.archive.rivals.langgraph_store import langgraph_store
from chatmemory.programs.archive.rivals.letta import letta
from chatmemory.programs.archive.rivals.mem0 import mem0
from chatmemory.programs.archive.rivals.openai_agents import openai_agents
from chatmemory.programs.archive.rivals.rival import Arrivals, Rival, RivalFile
from chatmemory.programs.archive.rivals.zep import zep

RIVALS: Final[Mapping[str, Rival]] = {
    "mem0": mem0,
    "letta": letta,
    "langgraph": langgraph_store,
    "openai-agents": openai_agents,
    "zep": zep,
}


def read_rival(name: str, file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the records of an export of the tool *name*; an unreadable file yields one ``Unfit``.

    Args:
        name: one of ``RIVALS``.
        file: the export.
        namespace: the owner of records that have no owner in the export.
    """
    try:
        yield from RIVALS[name].records(file, namespace)
    except (ValueError, OSError) as error:
        yield Unfit(f"{file.path.name} is not an export of {name}: {error}")
    else:
        yield ExportEnd()
