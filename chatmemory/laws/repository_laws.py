"""Everything that a repository has to obey, as one class of tests for messages, one for memories and one for items."""

from collections.abc import Callable
from functools import partial

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from chatmemory.laws.items.item_lifetime_laws import ItemLifetimeLaws
from chatmemory.laws.items.item_machine import ItemMachine
from chatmemory.laws.items.item_reading_laws import ItemReadingLaws
from chatmemory.laws.items.item_writing_laws import ItemWritingLaws
from chatmemory.laws.kit.host import Host
from chatmemory.laws.kit.under_test import UnderTest
from chatmemory.laws.memories.memory_concurrency_laws import MemoryConcurrencyLaws
from chatmemory.laws.memories.memory_forget_laws import MemoryForgetLaws
from chatmemory.laws.memories.memory_machine import MemoryMachine
from chatmemory.laws.memories.memory_reading_laws import MemoryReadingLaws
from chatmemory.laws.memories.memory_search_laws import MemorySearchLaws
from chatmemory.laws.memories.memory_truth_laws import MemoryTruthLaws
from chatmemory.laws.memories.memory_use_laws import MemoryUseLaws
from chatmemory.laws.memories.memory_writing_laws import MemoryWritingLaws
from chatmemory.laws.messages.concurrency_laws import ConcurrencyLaws
from chatmemory.laws.messages.counting_laws import CountingLaws
from chatmemory.laws.messages.reading_laws import ReadingLaws
from chatmemory.laws.messages.repository_machine import RepositoryMachine
from chatmemory.laws.messages.summary_laws import SummaryLaws
from chatmemory.laws.messages.work_laws import WorkLaws
from chatmemory.laws.messages.writing_laws import WritingLaws


class MessageRepositoryLaws(WritingLaws, CountingLaws, ReadingLaws, ConcurrencyLaws, SummaryLaws, WorkLaws):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    def test_l21_equivalence(self) -> None:
        """L21 equivalence: any program of operations is answered as by the plain model, on every backend, errors included."""
        with Host(self.open, event_loop=self.event_loop) as host:
            run_programs(partial(RepositoryMachine, host, is_durable=self.is_durable), self)


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
            run_programs(partial(MemoryMachine, host, is_durable=self.is_durable), self)


class ItemRepositoryLaws(ItemWritingLaws, ItemReadingLaws, ItemLifetimeLaws):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    def test_l21_equivalence(self) -> None:
        """L21 equivalence: any program of operations is answered as by the plain model, on every backend."""
        with Host(self.open, event_loop=self.event_loop) as host:
            run_programs(partial(ItemMachine, host, is_durable=self.is_durable), self)


def run_programs(machine: Callable[[], RuleBasedStateMachine], under_test: UnderTest) -> None:
    """Let hypothesis write programs for what *machine* makes: as many, of as many steps, as *under_test* says."""
    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]  # hypothesis takes any factory, though it names a class
        settings=settings(
            max_examples=under_test.examples,
            stateful_step_count=under_test.steps,
            # The same programs in every run, and no clock that could fail a slow machine.
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            phases=[Phase.generate, Phase.shrink] if under_test.shrinks else [Phase.generate],
        ),
    )
