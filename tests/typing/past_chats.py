"""Past chats: every error can be told apart, a stack gives what it says, and a format is what its contract says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never, assert_type

from chatmemory import (
    DataValidationError,
    Failure,
    GenericMemoryError,
    IndexRequest,
    ManagedRuntime,
    PastChats,
    PastChatsIndexService,
    PastChatsService,
    PastChatsSettings,
    PromptFilter,
    PromptHit,
    PromptNotFoundError,
    Success,
)
from chatmemory.pastchats.formats.histories import Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryFormat, HistoryReader, KnownRoot
from chatmemory_layers.stacks import past_chats as past_chats_stacks

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


class Minutes:
    """A format of one's own."""

    name = "minutes"
    version = 1
    has_global_ids = False
    known_roots: Sequence[KnownRoot] = ()

    def claim(self, head: Head, /) -> Claim | None:
        return Claim(90, "its first line") if head.text.startswith("Minutes of ") else None

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        yield PromptTurn(conversation_id=f"minutes:{reader.path}", role="user", content="散会")


class Unsure:
    """Claims nothing."""

    name = "unsure"
    version = 1
    has_global_ids = False
    known_roots: Sequence[KnownRoot] = ()

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        yield from ()


MINUTES: HistoryFormat = Minutes()
UNSURE: HistoryFormat = Unsure()  # type: ignore[assignment]  # it says not which files are its own
