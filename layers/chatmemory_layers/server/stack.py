"""``server_stack``: every service that the HTTP API asks for, as the settings say."""

from typing_extensions import Unpack

from chatmemory.effect import Layer
from chatmemory.programs.http.app import Services
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.settings.memory_settings import Settings
from chatmemory_layers import stacks
from chatmemory_layers.server.audit_pruning import audit_pruning
from chatmemory_layers.server.facts import server_facts
from chatmemory_layers.server.served_past_chats import served_past_chats


def server_stack(settings: Settings, **parts: Unpack[stacks.Parts]) -> Layer[Services, stacks.StackError]:
    """Build what *settings* say; the index of past chats is looked for when somebody asks.

    Args:
        settings: of the memory, the past chats and the server.
        parts: what the memory has in the place of its own, as for ``stacks.configured``.
    """
    past_chats = served_past_chats(settings.memory.past_chats, settings.memory.embedding)
    facts = Layer.succeed(ServerFactsTag, server_facts(settings))
    pruning = audit_pruning(settings.server.audit_days)
    return stacks.configured(settings, **parts).feed_keep(pruning) | past_chats | facts
