"""The laws catch what they are there for: each broken store by the law that it breaks, and a sound one by none."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.laws import ItemRepositoryLaws, LawBrokenError, MemoryRepositoryLaws, MessageRepositoryLaws
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.settings.memory_settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.item_repository import InMemoryItemRepository
from chatmemory_layers.in_memory.memory_repository import InMemoryMemoryRepository
from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository
from chatmemory_layers.sqlite.engine import database
from chatmemory_layers.sqlite.messages import message_repository
from tests.laws import broken, broken_items, broken_logs, broken_memories, broken_undo
from tests.laws.breaking import AT_LENGTH, broken_in
from tests.laws.broken import Broken, StaysLocked, SwallowsDriverErrors
from tests.laws.broken_items import BrokenItems
from tests.laws.broken_memories import BrokenMemory
from tests.thorough import rounds, thorough

# A law that is broken half-way has made questions that it no longer asks.
pytestmark = pytest.mark.filterwarnings("ignore:this effect never ran")

Laws: TypeAlias = MessageRepositoryLaws | MemoryRepositoryLaws | ItemRepositoryLaws

BROKEN = broken_in(broken, broken_undo, broken_memories, broken_items, broken_logs)
CAUGHT = [catch for kind in BROKEN for catch in kind.catches]
# By generated programs, which find what no case was written for; the message names the law of the step that went wrong.
CAUGHT_BY_PROGRAMS = [
    pytest.param(kind, law, marks=[thorough] if when == AT_LENGTH else [])
    for kind in BROKEN
    for when, law in kind.programs.items()
    if law
]


def laws_of(kind: type) -> Laws:
    """Return the laws of a broken store over dictionaries that survive being opened again."""
    kept = Database()
    laws: Laws
    if issubclass(kind, BrokenMemory):
        memories = InMemoryMemoryRepository(kept)
        laws = MemoryRepositoryLaws()
        laws.repository = Layer.sync(MemoryRepositoryTag, lambda: kind(memories)) | Layer.succeed(
            MessageRepositoryTag, InMemoryMessageRepository(kept)
        )
    elif issubclass(kind, BrokenItems):
        items = InMemoryItemRepository(kept)
        laws = ItemRepositoryLaws()
        laws.repository = Layer.sync(ItemRepositoryTag, lambda: kind(items))
    else:
        messages = InMemoryMessageRepository(kept)
        laws = MessageRepositoryLaws()
        laws.repository = Layer.sync(MessageRepositoryTag, lambda: kind(messages))
    laws.shrinks = False
    laws.patience_seconds = 1.0  # what is broken need not be waited for as long as what is slow
    return laws


@pytest.mark.parametrize(("kind", "case", "law"), CAUGHT)
def test_a_broken_store_is_caught_by_the_law_that_it_breaks(kind: type, case: str, law: str) -> None:
    with pytest.raises(LawBrokenError) as broken:
        getattr(laws_of(kind), case)()
    assert broken.value.law.startswith(f"{law} ")


@pytest.mark.parametrize(("kind", "law"), CAUGHT_BY_PROGRAMS)
def test_a_broken_store_is_caught_by_a_program(kind: type, law: str) -> None:
    laws = laws_of(kind)
    laws.examples = 500  # a program finds what it happens to do; the first failure ends it
    with pytest.raises(LawBrokenError) as broken:
        laws.test_l21_equivalence()
    assert broken.value.law.split()[0] in law.split(" or ")


def test_a_repository_that_stays_locked_after_a_cancel_is_caught_instead_of_waited_for() -> None:
    laws: Any = laws_of(StaysLocked)
    laws.patience_seconds = 0.2
    with pytest.raises(LawBrokenError, match=r"^L20 errors: .*\nno answer within 0.2 seconds"):
        laws.test_l6_cancel()


def test_a_repository_that_swallows_driver_errors_is_caught_by_l20(tmp_path: Path) -> None:
    settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "laws.db")))
    sound = settings >> database.database >> message_repository.message_repository
    laws = MessageRepositoryLaws()
    laws.repository = sound >> Layer.effect(
        MessageRepositoryTag,
        MessageRepositoryTag.get().map(SwallowsDriverErrors),
        needs=[MessageRepositoryTag],
    )
    with pytest.raises(LawBrokenError, match=r"^L20 errors: "):
        laws.test_l20_errors()


class Sound:
    """The control: what is caught above is the fault, not the wrapper."""

    examples = rounds(4, thorough=100)
    kind: type
    repository: Layer[Any, Any]

    @pytest.fixture(autouse=True)
    def unbroken(self) -> None:
        self.repository = laws_of(self.kind).repository


class TestSoundMessages(Sound, MessageRepositoryLaws):
    kind = Broken


class TestSoundMemories(Sound, MemoryRepositoryLaws):
    kind = BrokenMemory


class TestSoundItems(Sound, ItemRepositoryLaws):
    kind = BrokenItems
