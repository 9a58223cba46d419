"""An index of past chats over real files and a real store, for tests of whatever keeps or asks it."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

from attrs import evolve, frozen

from chatmemory.effect import Effect, Layer, ManagedRuntime, Outcome, Success
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.errors import DataValidationError, PastChatsError
from chatmemory.input.json_value import Json
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.formats.registry import Formats
from chatmemory.pastchats.indexing.past_chats_index_live import PastChatsIndexLive, past_chats_index
from chatmemory.pastchats.past_chats import IndexReport, IndexRequest
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.embedding.local import hashed
from chatmemory_layers.files.local_files import local_files
from chatmemory_layers.sqlite.prompts.prompt_repository import prompt_repository
from tests.unit.sqlite.desktop_files import fetched

A = TypeVar("A")


@frozen
class Indexed:
    """An open index of the histories below *folder*."""

    runtime: ManagedRuntime[PastChatsIndexService]
    live: PastChatsIndexLive
    folder: Path
    database: Path

    def write(
        self, name: str, *turns: tuple[str, str], session: str | None = None, cut: int | None = None
    ) -> Path:
        """Write a session of Claude Code: role and text of each turn; *cut*: without so many of its last bytes."""
        records = [
            claude_record(session or Path(name).stem, number, role, text)
            for number, (role, text) in enumerate(turns)
        ]
        content = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records).encode()
        return write(self.folder / name, content[: len(content) - cut] if cut else content)

    def write_text(self, name: str, content: str | bytes) -> Path:
        """Write a file as it is."""
        return write(self.folder / name, content)

    def try_index(self, *inputs: Path, **request: Any) -> Outcome[IndexReport, PastChatsError]:
        """Run the index over *inputs*, by default the folder."""
        asked = evolve(IndexRequest(inputs=tuple(map(str, inputs or (self.folder,)))), **request)
        return self.run(self.live.index(asked))

    def index(self, *inputs: Path, **request: Any) -> IndexReport:
        """Run the index, which must succeed."""
        return self.try_index(*inputs, **request).unwrap()

    def run(self, effect: Effect[A, PastChatsError]) -> Outcome[A, PastChatsError]:
        """Run *effect* without an event loop."""
        return self.runtime.run_sync(effect)

    def with_formats(self, formats: Formats) -> "Indexed":
        """Return the same with other formats."""
        return evolve(self, live=evolve(self.live, formats=_always(formats)))

    def with_embedder(self, embedder: Embedder) -> "Indexed":
        """Return the same with another embedder."""
        return evolve(self, live=evolve(self.live, embedder=embedder))

    def rows(
        self, columns: str = "role, content", where: str = "1", *values: object
    ) -> list[tuple[object, ...]]:
        """Return columns of the rows of ``prompts`` that are current, in their order."""
        statement = f"SELECT {columns} FROM prompts WHERE superseded_at IS NULL AND {where} ORDER BY conversation_id, turn_index"
        return fetched(self.database, statement, *values)

    def everything(self) -> list[tuple[object, ...]]:
        """Return all rows of all tables that a run without news must leave alone."""
        tables = ("prompts", "prompt_vectors", "prompt_sources", "prompt_aliases")
        return [row for table in tables for row in fetched(self.database, f"SELECT * FROM {table}")]


def _always(formats: Formats) -> Callable[[], Outcome[Formats, DataValidationError]]:
    return lambda: Success(formats)


def claude_record(session: str, number: int, role: str, text: str, **more: Json) -> Mapping[str, Json]:
    """Return a line of a transcript of Claude Code."""
    message: dict[str, Json] = {
        "role": role,
        "content": text if role == "user" else [{"type": "text", "text": text}],
    }
    if role == "assistant":
        message |= {
            "id": f"msg_{_id(session, number).replace('-', '')}",
            "type": "message",
            "model": "claude-sonnet-4",
        }
    return {
        "parentUuid": None if number == 0 else _id(session, number - 1),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/mei/shop",
        "sessionId": session,
        "version": "1.0.60",
        "gitBranch": "main",
        "type": role,
        "message": message,
        "uuid": _id(session, number),
        "timestamp": f"2026-02-17T09:{number // 60:02}:{number % 60:02}.000Z",
        **more,
    }


def _id(session: str, number: int) -> str:
    return str(uuid5(NAMESPACE_URL, f"{session}/{number}"))


@contextmanager
def open_index(
    tmp_path: Path, *, embedder: Layer[EmbedderTag] = hashed, settings: PastChatsSettings | None = None
) -> Generator[Indexed]:
    """Open an index in a folder of its own, over an empty folder of histories."""
    folder, database = tmp_path / "histories", tmp_path / "index" / "past.db"
    folder.mkdir(parents=True, exist_ok=True)
    # The same SQLite for the store and for rows(): two of them in one process take each other's locks away.
    chosen = evolve(settings or PastChatsSettings(), path=str(database), use_sqlite_vec=False)
    given = Layer.succeed(PastChatsSettingsTag, chosen)
    stack = given.feed_keep(prompt_repository | embedder | local_files) >> past_chats_index
    with ManagedRuntime(stack) as runtime:
        live = runtime.run_sync(PastChatsIndexService.get()).unwrap()
        assert isinstance(live, PastChatsIndexLive)
        yield Indexed(runtime, live, folder, database)


def write(path: Path, content: str | bytes = "一\n") -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return path


def lines_of(records: Iterable[Mapping[str, Json]]) -> str:
    """Return JSON Lines, in ASCII."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


def role_list(turns: Sequence[tuple[str, str]]) -> str:
    """Return a list of messages as JSON."""
    return json.dumps([{"role": role, "content": text} for role, text in turns], ensure_ascii=False, indent=1)
