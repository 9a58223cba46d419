"""The law kit on the memory repositories that ship with chatmemory."""

from chatmemory.laws.memory_repository_laws import MemoryRepositoryLaws
from chatmemory_layers.in_memory import memory_repository as in_memory


class TestInMemory(MemoryRepositoryLaws):
    repository = in_memory.memory_repository
    is_durable = False


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"
