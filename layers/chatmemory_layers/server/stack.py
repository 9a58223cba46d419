"""``server_stack``: every service that the HTTP API asks for, as the settings say."""

from chatmemory.effect import Layer
from chatmemory.programs.http.app import Services
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.settings import Settings
from chatmemory_layers import stacks
from chatmemory_layers.server.facts import server_facts
from chatmemory_layers.server.served_past_chats import served_past_chats


def server_stack(settings: Settings) -> Layer[Services, stacks.StackError]:
    """Build what *settings* say; the index of past chats is looked for when somebody asks."""
    past_chats = served_past_chats(settings.memory.past_chats, settings.memory.embedding)
    facts = Layer.succeed(ServerFactsTag, server_facts(settings))
    return stacks.configured(settings) | past_chats | facts
