"""``Parts``: the parts of a ready-made stack that a program may replace, each by a layer or a plain object."""

from typing import Never, TypeAlias, TypedDict

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.conversation.skill_runner import SkillRunner, SkillRunnerTag
from chatmemory.conversation.strategies.contract import HistoryStrategy, HistoryStrategyTag
from chatmemory.conversation.token_counter import TokenCounterTag
from chatmemory.effect import Layer
from chatmemory.effect.services.clock import Clock
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.errors import ConfigError, RepositoryError
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.longterm.extraction.memory_extractor import MemoryExtractor, MemoryExtractorTag
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory_layers.configuration import SettingsTags

StackError: TypeAlias = RepositoryError | ConfigError
Stores: TypeAlias = MessageRepositoryTag | MemoryRepositoryTag | ItemRepositoryTag
Given: TypeAlias = SettingsTags | TokenCounterTag
Around: TypeAlias = Given | Stores | SkillRunnerTag | EmbedderTag
"""The services that a strategy, an extractor and a ranker may use."""

Repositories: TypeAlias = Layer[Stores, StackError, Given]
MessageStores: TypeAlias = Layer[MessageRepositoryTag, StackError, Given | Stores]
MemoryStores: TypeAlias = Layer[MemoryRepositoryTag, StackError, Given | Stores]
ItemStores: TypeAlias = Layer[ItemRepositoryTag, StackError, Given | Stores]
SomeRepositories: TypeAlias = MessageStores | MemoryStores | ItemStores
"""A layer of one, two or all three repositories; one that requires the repository that it provides wraps the stack's own."""

Skills: TypeAlias = Layer[SkillRunnerTag, StackError, Given]
Embedders: TypeAlias = Layer[EmbedderTag, StackError, Given]
Strategies: TypeAlias = Layer[HistoryStrategyTag, StackError, Around]
Extractors: TypeAlias = Layer[MemoryExtractorTag, StackError, Around]
Rankers: TypeAlias = Layer[RecallRankerTag, StackError, Around]
Clocks: TypeAlias = Layer[Never]


class Parts(TypedDict, total=False):
    """The parts to replace.  None, or leaving a part out, keeps the part of the stack.

    Attributes:
        repositories: a layer of one, two or all three repositories; when all are replaced, the store of the stack is
            not opened.
        strategy: keeps a long conversation short: settings, a strategy, or a layer of one.
        skills: writes summaries.
        embedder: makes vectors of memories; it is timed and guarded as the stack's own is.
        extractor: finds memories in messages.
        ranker: orders the memories of a recall.
        clock: gives the present time.
    """

    repositories: SomeRepositories | None
    strategy: StrategySettings | HistoryStrategy | Strategies | None
    skills: SkillRunner | Skills | None
    embedder: Embedder | Embedders | None
    extractor: MemoryExtractor | Extractors | None
    ranker: RecallRanker | Rankers | None
    clock: Clock | Clocks | None
