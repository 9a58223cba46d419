"""Long-term memory: every error and every outcome of a save can be told apart, and nothing can be left unwired."""

from __future__ import annotations

from typing import assert_never, assert_type

from chatmemory import (
    DataValidationError,
    Duplicate,
    Embedder,
    EmbedderTag,
    Failure,
    GenericMemoryError,
    Layer,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryChangedError,
    MemoryChanges,
    MemoryConflictError,
    MemoryNotFoundError,
    MemoryRepositoryTag,
    Namespace,
    NewMemory,
    Outcome,
    RecallRanker,
    RecallRankerTag,
    RememberReport,
    Settings,
    Skipped,
    Stored,
    Success,
)
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.errors import EmbeddingError, MemoryChangeError, RepositoryError, SkillExecutionError
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memories import SaveOutcome
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.static import static
from chatmemory_layers.in_memory.memory_repository import memory_repository

MEI = Namespace("mei", "harbor")


async def every_error_of_a_correction(memory: LongTermMemory) -> str:
    match await memory.update(MEI, "m1", MemoryChanges(content="likes tea")):
        case Success(corrected):
            return corrected.content
        case Failure(error):
            assert_type(error, MemoryChangeError)
            match error:
                case DataValidationError():
                    return "400"
                case MemoryNotFoundError(memory_id):
                    return memory_id
                case MemoryConflictError() | MemoryChangedError():
                    return "409"
                case GenericMemoryError(reason):
                    assert_type(reason, RepositoryError | SkillExecutionError | EmbeddingError)
                    return reason.tag
                case _:
                    assert_never(error)


async def an_error_is_forgotten(memory: LongTermMemory) -> str:
    match await memory.get(MEI, "m1"):
        case Success(found):
            return found.content
        case Failure(error):
            match error:
                case DataValidationError() | GenericMemoryError():
                    return "broken"
                case _:
                    assert_never(error)  # type: ignore[arg-type]  # MemoryNotFoundError is left


def a_tag_is_forgotten(error: MemoryChangeError) -> int:
    match error.tag:
        case "DataValidationError":
            return 400
        case "MemoryNotFoundError":
            return 404
        case "MemoryConflictError":
            return 409
        case "GenericMemoryError":
            return 503
        case _:
            assert_never(error.tag)  # type: ignore[arg-type]  # "MemoryChangedError" is left


async def what_became_of_each(memory: LongTermMemory) -> list[str]:
    saved = await memory.remember(MEI, [NewMemory("likes tea")])
    assert_type(
        saved, Outcome[RememberReport, DataValidationError | MemoryConflictError | GenericMemoryError]
    )
    return [told(outcome) for outcome in saved.unwrap().outcomes]


def told(outcome: SaveOutcome) -> str:
    match outcome:
        case Stored(memory_id):
            return memory_id
        case Duplicate(of):
            return of
        case Skipped(reason):
            return reason
        case _:
            assert_never(outcome)


def an_outcome_is_forgotten(outcome: SaveOutcome) -> str:
    match outcome:
        case Stored(memory_id) | Duplicate(memory_id):
            return memory_id
        case _:
            assert_never(outcome)  # type: ignore[arg-type]  # Skipped is left


given = settings_given(Settings())
all_but_an_embedder = given.feed_keep(memory_repository | rule_extractor)
with_an_embedder = all_but_an_embedder.feed_keep(static >> guarded)
whole = with_an_embedder.feed_keep(recall_ranker) >> long_term_memory

assert_type(whole, Layer[LongTermMemoryService])
ManagedRuntime(whole)
without_an_embedder = all_but_an_embedder.feed_keep(recall_ranker) >> long_term_memory
ManagedRuntime(without_an_embedder)  # type: ignore[arg-type]  # EmbedderTag is required
ManagedRuntime(with_an_embedder >> long_term_memory)  # type: ignore[operator]  # RecallRankerTag is required
ManagedRuntime(static >> guarded)  # type: ignore[operator]  # EmbeddingSettingsTag is required


def ones_own_parts(embedder: Embedder, ranker: RecallRanker) -> None:
    Layer.succeed(EmbedderTag, embedder)
    Layer.succeed(RecallRankerTag, ranker)
    Layer.succeed(EmbedderTag, ranker)  # type: ignore[misc]  # it embeds nothing
    Layer.succeed(MemoryRepositoryTag, embedder)  # type: ignore[misc]  # it keeps nothing


async def a_call_names_its_namespace(memory: LongTermMemory) -> None:
    await memory.recall("where does she live?")  # type: ignore[arg-type, call-arg]  # whose memories?
    await memory.recall("mei", "where does she live?")  # type: ignore[arg-type]  # a text is no namespace
    await memory.list(MEI, category="opinion")  # type: ignore[arg-type]  # there is no such category
