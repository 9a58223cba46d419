"""A spy that nobody tells anything is not there: what it stands around keeps every law."""

from typing import Final

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.laws import ItemRepositoryLaws, MessageRepositoryLaws
from chatmemory.testing import Spy
from chatmemory_layers.in_memory.item_repository import item_repository
from chatmemory_layers.in_memory.message_repository import message_repository

FEW: Final = 5


class TestSpiedMessages(MessageRepositoryLaws):
    repository = message_repository >> Spy(MessageRepositoryTag).layer
    is_durable = False
    examples = rounds = FEW


class TestSpiedItems(ItemRepositoryLaws):
    repository = item_repository >> Spy(ItemRepositoryTag).layer
    is_durable = False
    examples = rounds = FEW
