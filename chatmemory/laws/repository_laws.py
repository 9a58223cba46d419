"""All laws of a repository, as one class of tests for messages, one for memories and one for items."""

from chatmemory.laws.event_laws import (
    ConversationEventLaws,
    ItemEventLaws,
    MemoryEventLaws,
    TombstoneLaws,
)
from chatmemory.laws.items.item_machine import ItemMachine
from chatmemory.laws.items.item_past_laws import ItemLifetimeLaws, ItemPastLaws
from chatmemory.laws.items.item_reading_laws import ItemReadingLaws
from chatmemory.laws.items.item_writing_laws import ItemWritingLaws
from chatmemory.laws.kit.side_by_side import EquivalenceLaw
from chatmemory.laws.memories.memory_attribute_laws import MemoryAttributeLaws
from chatmemory.laws.memories.memory_concurrency_laws import MemoryConcurrencyLaws
from chatmemory.laws.memories.memory_forget_laws import MemoryForgetLaws
from chatmemory.laws.memories.memory_machine import MemoryMachine
from chatmemory.laws.memories.memory_reading_laws import MemoryReadingLaws, MemorySearchLaws
from chatmemory.laws.memories.memory_truth_laws import MemoryTruthLaws, MemoryUseLaws
from chatmemory.laws.memories.memory_writing_laws import MemoryWritingLaws
from chatmemory.laws.messages.concurrency_laws import ConcurrencyLaws, WorkLaws
from chatmemory.laws.messages.fork_laws import ForkLaws
from chatmemory.laws.messages.owner_laws import OwnerLaws
from chatmemory.laws.messages.past_laws import PastLaws
from chatmemory.laws.messages.reading_laws import CountingLaws, ReadingLaws
from chatmemory.laws.messages.repository_machine import RepositoryMachine
from chatmemory.laws.messages.summary_laws import SummaryLaws
from chatmemory.laws.messages.undo_laws import ReplacingLaws, UndoLaws
from chatmemory.laws.messages.writing_laws import WritingLaws


class MessageRepositoryLaws(
    WritingLaws,
    CountingLaws,
    ReadingLaws,
    PastLaws,
    ForkLaws,
    UndoLaws,
    ReplacingLaws,
    ConcurrencyLaws,
    SummaryLaws,
    WorkLaws,
    OwnerLaws,
    ConversationEventLaws,
    EquivalenceLaw,
):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    machine = RepositoryMachine


class MemoryRepositoryLaws(
    MemoryWritingLaws,
    MemoryReadingLaws,
    MemorySearchLaws,
    MemoryTruthLaws,
    MemoryAttributeLaws,
    MemoryUseLaws,
    MemoryForgetLaws,
    MemoryConcurrencyLaws,
    MemoryEventLaws,
    TombstoneLaws,
    EquivalenceLaw,
):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    machine = MemoryMachine


class ItemRepositoryLaws(
    ItemWritingLaws, ItemReadingLaws, ItemLifetimeLaws, ItemPastLaws, ItemEventLaws, EquivalenceLaw
):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    machine = ItemMachine
