"""``mcp_stack``: all services that the MCP server needs, built from the settings."""

from collections.abc import Sequence

from typing_extensions import Unpack

from chatmemory.effect import Layer
from chatmemory.programs.mcp.server import Services
from chatmemory.settings.memory_settings import Settings
from chatmemory_layers import stacks
from chatmemory_layers.server.audit_pruning import audit_pruning
from chatmemory_layers.server.served_index import served_index
from chatmemory_layers.server.served_past_chats import served_past_chats


def mcp_stack(
    settings: Settings, *, folders: Sequence[str] = (), **parts: Unpack[stacks.Parts]
) -> Layer[Services, stacks.StackError]:
    """Return the layer of all services of the MCP server.

    Args:
        settings: of the memory and the past chats.
        folders: folders that may be indexed, besides the folders of the known tools.
        parts: the parts of the memory to replace, as for ``stacks.configured``.
    """
    memory = settings.memory
    past_chats = served_past_chats(memory.past_chats, memory.embedding)
    index = served_index(memory.past_chats, memory.embedding, folders=folders)
    pruning = audit_pruning(settings.server.audit_days)
    return stacks.configured(settings, **parts).feed_keep(pruning) | past_chats | index
