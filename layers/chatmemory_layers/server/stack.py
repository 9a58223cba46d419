"""``server_stack``: all services that the HTTP API needs, built from the settings."""

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
    """Return the layer of all services of the HTTP API; the index of past chats is opened at the first request for it.

    Args:
        settings: of the memory, the past chats and the server.
        parts: the parts of the memory to replace, as for ``stacks.configured``.
    """
    past_chats = served_past_chats(settings.memory.past_chats, settings.memory.embedding)
    facts = Layer.succeed(ServerFactsTag, server_facts(settings))
    pruning = audit_pruning(settings.server.audit_days)
    return stacks.configured(settings, **parts).feed_keep(pruning) | past_chats | facts
