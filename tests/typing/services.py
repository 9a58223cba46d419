"""Services: every error can be told apart, a stack gives what it says, and stubs are seen as what they stand for."""

from collections.abc import Iterator, Sequence
from typing import Never, assert_never, assert_type

from chatmemory import (
    DataValidationError,
    Duplicate,
    Embedder,
    EmbedderTag,
    Failure,
    GenericMemoryError,
    IndexRequest,
    Layer,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryChangedError,
    MemoryChanges,
    MemoryConflictError,
    MemoryNotFoundError,
    MemoryRepositoryTag,
    MessageRepository,
    MessageRepositoryTag,
    Namespace,
    NewMemory,
    Outcome,
    PastChats,
    PastChatsIndexService,
    PastChatsService,
    PastChatsSettings,
    PromptFilter,
    PromptHit,
    PromptNotFoundError,
    RecallRanker,
    RecallRankerTag,
    RememberReport,
    Settings,
    SkillRequest,
    SkillRunner,
    SkillRunnerTag,
    Skipped,
    Stored,
    Success,
)
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.embedding.query_embedder import QueryEmbedderTag
from chatmemory.errors import EmbeddingError, MemoryChangeError, RepositoryError, SkillExecutionError
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memories import SaveOutcome
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.pastchats.formats.histories import Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryFormat, HistoryReader, KnownRoot
from chatmemory.pastchats.indexing.history_files import HistoryFilesTag
from chatmemory.testing import Spy, Stub, TableEmbedder, TextFiles
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.local import static
from chatmemory_layers.in_memory.memory_repository import memory_repository
from chatmemory_layers.in_memory.message_repository import message_repository
from chatmemory_layers.stacks import past_chats as past_chats_stacks

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


def a_tag_is_forgotten(error: MemoryChangeError) -> int:
    match error.tag:
        case "DataValidationError":
            return 400
        case "MemoryNotFoundError":
            return 404
        case "MemoryConflictError" | "GenericMemoryError":
            return 409
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


SETTINGS = PastChatsSettings(path="pastchats.db")


def every_error_of_past_chats(runtime: ManagedRuntime[PastChatsService], past: PastChats) -> str:
    match runtime.run_sync(past.show("chat.json#1")):
        case Success(turns):
            return turns[0].content
        case Failure(error):
            match error:
                case PromptNotFoundError(source):
                    return source
                case DataValidationError() | GenericMemoryError():
                    return error.tag
                case _:
                    assert_never(error)


def one_runtime_indexes_and_finds() -> Sequence[PromptHit]:
    with ManagedRuntime(past_chats_stacks.testing()) as runtime:
        request = IndexRequest(inputs=("chat.json",))
        report = runtime.run_sync(PastChatsIndexService.use(lambda past: past.index(request))).unwrap()
        assert_type(report.turns.new, int)
        which = PromptFilter(roles=["user"])
        found = PastChatsService.use(lambda past: past.search("重试", which=which))
        return runtime.run_sync(found).unwrap().hits


def who_only_finds_cannot_index() -> None:
    with ManagedRuntime(past_chats_stacks.finding(SETTINGS)) as runtime:
        runtime.run_sync(PastChatsIndexService.get())  # type: ignore[arg-type]  # it gives no index
        PromptFilter(roles=["robot"])  # type: ignore[list-item]  # no such role


class Unsure:
    """Claims nothing."""

    name = "unsure"
    version = 1
    has_global_ids = False
    known_roots: Sequence[KnownRoot] = ()

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        yield PromptTurn(conversation_id=f"minutes:{reader.path}", role="user", content="散会")


class Minutes(Unsure):
    """A format of one's own."""

    def claim(self, head: Head, /) -> Claim | None:
        return Claim(90, "its first line") if head.text.startswith("Minutes of ") else None


MINUTES: HistoryFormat = Minutes()
UNSURE: HistoryFormat = Unsure()  # type: ignore[assignment]  # it says not which files are its own


def a_stub_is_its_service(request: SkillRequest) -> stacks.Stack:
    skills = Stub(SkillRunnerTag, run=["a summary"])
    assert_type(skills.service, SkillRunner)
    assert_type(skills.layer, Layer[SkillRunnerTag])
    skills.service.run("summary", request)
    skills.service.run(request)  # type: ignore[arg-type, call-arg]  # no skill is named
    stacks.testing(embedder=skills.layer)  # type: ignore[arg-type]  # no embedder
    Stub(SkillRunner)  # type: ignore[arg-type]  # a contract is not a tag
    return stacks.testing(skills=skills.layer)


def a_spy_needs_what_it_gives(real: MessageRepository) -> ManagedRuntime[MessageRepositoryTag]:
    messages = Spy(MessageRepositoryTag)
    assert_type(messages.around(real), MessageRepository)
    assert_type(messages.layer, Layer[MessageRepositoryTag, Never, MessageRepositoryTag])
    ManagedRuntime(messages.layer)  # type: ignore[arg-type]  # nothing real is there
    return ManagedRuntime(message_repository >> messages.layer)


def the_others_obey_their_contracts() -> None:
    embedder = TableEmbedder(table={"茶": (1, 0)})
    Layer.succeed(EmbedderTag, embedder)
    Layer.succeed(QueryEmbedderTag, embedder)
    Layer.succeed(HistoryFilesTag, TextFiles({"/chat.json": "[]"}))
    TableEmbedder(unknown="hash")  # type: ignore[arg-type]  # it fails, or is hashed
