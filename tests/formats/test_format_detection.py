"""Which format a file has: the surest one, and nobody where two are as sure or none is."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, EntryPoint, EntryPoints
from pathlib import Path

import pytest
from attrs import frozen

from chatmemory.effect import Success
from chatmemory.pastchats.formats.detection import Detection, detect
from chatmemory.pastchats.formats.histories import Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import (
    Claim,
    Head,
    HistoryReader,
    KnownRoot,
    UnreadableHistoryError,
)
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.formats.registry import GROUP, Formats, formats_of, installed_formats
from tests.for_each import for_each
from tests.formats.histories import detected as detected_by_all

TWO_LINES = '{"a": "一"}\n{"a": 2}\n'


@frozen
class Claiming:
    name: str
    says: Callable[[Head], Claim | None]
    version: int = 1
    has_global_ids: bool = False
    known_roots: tuple[KnownRoot, ...] = ()

    def claim(self, head: Head, /) -> Claim | None:
        return self.says(head)

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        return iter(())


def sure(name: str, confidence: int, evidence: str = "a sign", *, is_transcript: bool = True) -> Claiming:
    return Claiming(name, lambda _: Claim(confidence, evidence, is_transcript))


def detected(
    *claiming: Claiming, content: str | bytes = TWO_LINES, named: Claiming | None = None
) -> Detection:
    return detect(TextReader("x", {"x": content}), claiming, named=named)


def code(detection: Detection) -> str:
    assert detection.format is None
    assert detection.issue is not None
    return detection.issue.code


def test_the_surest_format_reads_a_file_and_nobody_where_two_or_none_are_sure() -> None:
    second = sure("second", 90, "it says so")
    found = detected(sure("first", 60), second, sure("third", 89))
    assert found == Detection(second, "it says so")
    shapes: list[str] = []
    detected(Claiming("a", lambda head: shapes.append(head.shape)), content='{"a": 1}')
    assert shapes == ["json_lines", "json"]
    two = detected(sure("second", 70, "a key"), sure("first", 70, "a name"), sure("third", 60))
    assert code(two) == "ambiguous_format"
    assert "first (70): a name; second (70): a key" in str(two.issue)
    none = detected(sure("a", 10), sure("b", 49, "a key"), sure("c", 30, "a word"))
    assert code(none) == "unknown_format"
    assert "b (49): a key; c (30): a word" in str(none.issue)
    assert "a (10)" not in str(none.issue)


def test_an_index_or_a_binary_file_is_no_transcript_and_a_named_format_reads_anything() -> None:
    found = detected(sure("a", 60), sure("b", 90, "the list of sessions", is_transcript=False))
    assert code(found) == "not_a_transcript"
    assert "the list of sessions" in str(found.issue)
    named = Claiming("mine", lambda _: None)
    assert detected(sure("other", 90), named=named).format is named
    assert code(detected(named=sure("mine", 90, is_transcript=False))) == "not_a_transcript"
    assert code(detected(named=named, content="")) == "not_a_transcript"
    for content, says in (
        (b"SQLite format 3\x00" + b"\x10\x00\x01\x01" * 100, "SQLite database"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00", "binary"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "binary"),
    ):
        found = detected(sure("a", 90), content=content)
        assert code(found) == "unknown_format"
        assert says in str(found.issue)
    for text in ('{"a": "x\x00"}\n{"b": "x\x00"}\n', "#### 用户说\x00话\n"):
        assert detected(sure("a", 90), content=text).format is not None


def test_a_format_that_raises_and_a_file_that_cannot_be_read_are_issues() -> None:
    def fail(_: Head) -> Claim:
        raise IndexError("of mine")

    whole = sure("whole", 60)
    found = detected(Claiming("broken", fail), whole)
    assert found.format is whole
    (failure,) = found.failures
    assert failure.code == "reader_failed"
    assert "broken could not look at it: IndexError: of mine" in str(failure)

    class Gone:
        path = name = "x"

        def blocks(self) -> Iterator[bytes]:
            raise UnreadableHistoryError("permission denied")

        def sibling(self, relative: str, /) -> None: ...

        def entries(self, relative: str = ".", /) -> tuple[str, ...]:
            return ()

    found = detect(Gone(), [sure("a", 90)])
    assert code(found) == "unreadable"
    assert "permission denied" in str(found.issue)


@for_each("content", ["", "\n", " \r\n\n", "[]", "{}", "{}\n", b"\xef\xbb\xbf", "[ ]\n"])
def test_an_empty_file_holds_no_conversation_and_is_no_error(content: str | bytes) -> None:
    found = detected_by_all("x.json", content)
    assert code(found) == "not_a_transcript"
    assert found.failures == ()


def test_an_export_of_this_software_is_no_history_and_says_how_it_is_read() -> None:
    message = '{"type": "message", "role": "user", "content": "你好", "created_at": "2026-03-01T00:00:00Z"}'
    for first, program in (
        ('{"type": "export", "format": "chatmemory", "version": 1}', "chatmemory"),
        ('{"type": "chatmemory.pastchats.prompt", "version": 1, "role": "user"}', "pastchats-memory"),
    ):
        found = detected_by_all("a.jsonl", f"{first}\n{message}\n")
        assert code(found) == "not_a_transcript"
        assert f"read it with {program} import" in str(found.issue)


@for_each(
    ("name", "content"),
    [
        ("channels.json", '[{"id": "C1", "name": "general", "created": 1, "members": ["U1"]}]'),
        ("users.json", '[{"uuid": "1", "full_name": "Lin", "email_address": "lin@example.org"}]'),
        ("notes.md", "# 会议记录\n\n- User: 王\n- 项目：聊天\n"),
        ("data.jsonl", '{"input": "2+2", "output": "4"}\n{"input": "3+3", "output": "6"}\n'),
    ],
)
def test_what_is_no_chat_is_left_to_nobody(name: str, content: str) -> None:
    assert code(detected_by_all(name, content)) in ("unknown_format", "not_a_transcript")


MODULE = '''
"""Reads the logs of a chat room: ``<name> text`` in each line below ``chat log:``."""

from chatmemory.pastchats.formats.history_format import Claim, KnownRoot
from chatmemory.pastchats.formats.reading.text_lines import text_lines
from chatmemory.pastchats.formats.histories import PromptTurn


class RoomLog:
    name = "{name}"
    version = 1
    has_global_ids = False
    known_roots = (KnownRoot("~/.room/logs", ("*.log",)),)

    def claim(self, head):
        return Claim(95, "the line 'chat log:'") if head.text.startswith("chat log:") else None

    def parse(self, reader):
        for line in text_lines(reader):
            if line.text.startswith("<"):
                name, _, text = line.text[1:].partition("> ")
                yield PromptTurn(conversation_id="{name}:" + reader.path, role="user", content=text, speaker=name)


room_log = RoomLog()
'''


def install(folder: Path, distribution: str, points: str, source: str) -> None:
    """Put a distribution into *folder*, as an installer does: the module of its entry point, and its metadata."""
    module = points.partition("= ")[2].partition(":")[0]
    (folder / f"{module}.py").write_text(source)
    info = folder / f"{distribution}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that distributions can be installed into."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def loaded() -> Formats:
    outcome = installed_formats()
    assert isinstance(outcome, Success), outcome
    return outcome.unwrap()


def test_a_third_party_brings_a_format_and_a_name_of_two_distributions_is_an_error(site: Path) -> None:
    install(site, "room-log", "room_log = room_log_format:room_log", MODULE.format(name="room_log"))
    reader = TextReader("today", {"today": "chat log:\n<小林> 服务器又挂了\n<Ana> Restart the worker.\n"})
    detection = detect(reader, loaded().by_name.values())
    assert detection.format is not None
    assert detection.format.name == "room_log"
    turns = [one for one in detection.format.parse(reader) if isinstance(one, PromptTurn)]
    said = [("小林", "服务器又挂了"), ("Ana", "Restart the worker.")]
    assert [(turn.speaker, turn.content) for turn in turns] == said
    install(site, "other-aider", "aider = other_aider:room_log", MODULE.format(name="aider"))
    outcome = installed_formats()
    assert "chatmemory-effect" in str(outcome.failure())
    assert "other-aider 1.2 (other_aider:room_log)" in str(outcome.failure())


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "AttributeError"),
        ("import nowhere_to_be_found", "ModuleNotFoundError"),
        ("1 / 0", "ZeroDivisionError"),
        ("room_log = object()", "it has no name, version"),
        (MODULE.format(name="other"), "calls itself 'other'"),
    ],
)
def test_a_broken_plugin_is_an_issue_and_the_others_load(site: Path, source: str, says: str) -> None:
    install(site, "broken-room", "room = room_broken:room_log", source)
    found = loaded()
    (issue,) = found.issues
    assert issue.code == "reader_failed"
    assert "format 'room' of broken-room 1.2" in str(issue)
    assert says in str(issue)
    assert "claude_code" in found.by_name
    assert "room" not in found.by_name


def test_formats_are_loaded_in_the_order_of_names_without_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {"markdown": "tools", "aider": "tools", "chatgpt": "web"}
    points = EntryPoints(
        EntryPoint(name, f"chatmemory.pastchats.formats.{folder}.{name}:{name}", GROUP)
        for name, folder in folders.items()
    )
    assert list(formats_of(points).unwrap().by_name) == ["aider", "chatgpt", "markdown"]
    # Its metadata holds a README: reading it once for each format took nine tenths of the time to load them.
    monkeypatch.setattr(Distribution, "metadata", property(lambda _: pytest.fail("it reads metadata")))
    assert len(loaded().by_name) > 20
    assert loaded().issues == ()
