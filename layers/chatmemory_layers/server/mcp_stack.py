"""``mcp_stack``: every service that the MCP server asks for, as the settings say."""

from collections.abc import Sequence

from chatmemory.effect import Layer
from chatmemory.programs.mcp.server import Services
from chatmemory.settings import Settings
from chatmemory_layers import stacks
from chatmemory_layers.server.served_index import served_index
from chatmemory_layers.server.served_past_chats import served_past_chats


def mcp_stack(settings: Settings, *, folders: Sequence[str] = ()) -> Layer[Services, stacks.StackError]:
    """Build what *settings* say; *folders* may be indexed, beside those that tools are known to use."""
    memory = settings.memory
    past_chats = served_past_chats(memory.past_chats, memory.embedding)
    index = served_index(memory.past_chats, memory.embedding, folders=folders)
    return stacks.configured(settings) | past_chats | index
