"""``MemoryRepositoryLaws``: everything that a ``MemoryRepository`` has to obey, as one class of tests."""

from chatmemory.laws.kit.host import Host
from chatmemory.laws.kit.programs import run_programs
from chatmemory.laws.memories.memory_concurrency_laws import MemoryConcurrencyLaws
from chatmemory.laws.memories.memory_forget_laws import MemoryForgetLaws
from chatmemory.laws.memories.memory_machine import MemoryMachine
from chatmemory.laws.memories.memory_reading_laws import MemoryReadingLaws
from chatmemory.laws.memories.memory_search_laws import MemorySearchLaws
from chatmemory.laws.memories.memory_truth_laws import MemoryTruthLaws
from chatmemory.laws.memories.memory_use_laws import MemoryUseLaws
from chatmemory.laws.memories.memory_writing_laws import MemoryWritingLaws


class MemoryRepositoryLaws(
    MemoryWritingLaws,
    MemoryReadingLaws,
    MemorySearchLaws,
    MemoryTruthLaws,
    MemoryUseLaws,
    MemoryForgetLaws,
    MemoryConcurrencyLaws,
):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    def test_l21_equivalence(self) -> None:
        """L21 equivalence: any program of operations is answered as by the plain model, on every backend, errors included."""
        with Host(self.open, event_loop=self.event_loop) as host:
            is_durable = self.is_durable

            class Machine(MemoryMachine):
                def __init__(self) -> None:
                    super().__init__(host, is_durable=is_durable)

            run_programs(Machine, self)
