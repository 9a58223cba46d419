"""The law kit on the repositories that ship with chatmemory."""

from chatmemory.laws import MessageRepositoryLaws
from chatmemory_layers.in_memory.message_repository import message_repository as in_memory


class TestInMemory(MessageRepositoryLaws):
    repository = in_memory
    is_durable = False


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"
