"""``mcp_stack``: every service that the MCP server asks for, as the settings say."""

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
    """Build what *settings* say.

    Args:
        settings: of the memory and the past chats.
        folders: what may be indexed, beside the folders that tools are known to use.
        parts: what the memory has in the place of its own, as for ``stacks.configured``.
    """
    memory = settings.memory
    past_chats = served_past_chats(memory.past_chats, memory.embedding)
    index = served_index(memory.past_chats, memory.embedding, folders=folders)
    pruning = audit_pruning(settings.server.audit_days)
    return stacks.configured(settings, **parts).feed_keep(pruning) | past_chats | index
