"""Which format a file has: the surest one, and nobody where two are as sure or none is."""

from collections.abc import Callable, Iterator

from attrs import frozen

from chatmemory.pastchats.formats.detection import Detection, detect
from chatmemory.pastchats.formats.histories import Parsed
from chatmemory.pastchats.formats.history_format import (
    Claim,
    Head,
    HistoryReader,
    KnownRoot,
    UnreadableHistoryError,
)
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.for_each import for_each
from tests.formats.histories import formats

TWO_LINES = '{"a": "一"}\n{"a": 2}\n'


@frozen
class Claiming:
    """A format that claims as it is told."""

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


def detected_by_all(name: str, content: str | bytes) -> Detection:
    return detect(TextReader(name, {name: content}), formats().by_name.values())


def code(detection: Detection) -> str:
    assert detection.format is None
    assert detection.issue is not None
    return detection.issue.code


def test_the_surest_format_reads_a_file() -> None:
    second = sure("second", 90, "it says so")
    found = detected(sure("first", 60), second, sure("third", 89))
    assert found == Detection(second, "it says so")


def test_a_file_that_two_formats_or_none_are_sure_of_is_left_to_nobody_and_the_best_two_are_named() -> None:
    two = detected(sure("second", 70, "a key"), sure("first", 70, "a name"), sure("third", 60))
    assert code(two) == "ambiguous_format"
    assert "first (70): a name; second (70): a key" in str(two.issue)
    none = detected(sure("a", 10), sure("b", 49, "a key"), sure("c", 30, "a word"))
    assert code(none) == "unknown_format"
    assert "b (49): a key; c (30): a word" in str(none.issue)
    assert "a (10)" not in str(none.issue)


def test_an_index_of_a_tool_is_no_transcript() -> None:
    found = detected(sure("a", 60), sure("b", 90, "the list of sessions", is_transcript=False))
    assert code(found) == "not_a_transcript"
    assert "the list of sessions" in str(found.issue)


def test_a_format_that_raises_takes_nothing_from_the_others() -> None:
    def fail(_: Head) -> Claim:
        raise IndexError("of mine")

    whole = sure("whole", 60)
    found = detected(Claiming("broken", fail), whole)
    assert found.format is whole
    (failure,) = found.failures
    assert failure.code == "reader_failed"
    assert "broken could not look at it: IndexError: of mine" in str(failure)


def test_one_object_alone_is_shown_as_a_line_and_as_a_document() -> None:
    shapes: list[str] = []
    detected(Claiming("a", lambda head: shapes.append(head.shape)), content='{"a": 1}')
    assert shapes == ["json_lines", "json"]


def test_a_format_that_is_named_reads_what_it_would_not_claim() -> None:
    named = Claiming("mine", lambda _: None)
    assert detected(sure("other", 90), named=named).format is named
    assert code(detected(named=sure("mine", 90, is_transcript=False))) == "not_a_transcript"
    assert code(detected(named=named, content="")) == "not_a_transcript"


@for_each("content", ["", "\n", " \r\n\n", "[]", "{}", "{}\n", b"\xef\xbb\xbf", "[ ]\n"])
def test_an_empty_file_holds_no_conversation_and_is_no_error(content: str | bytes) -> None:
    found = detected_by_all("x.json", content)
    assert code(found) == "not_a_transcript"
    assert found.failures == ()


@for_each(
    ("content", "says"),
    [
        (b"SQLite format 3\x00" + b"\x10\x00\x01\x01" * 100, "SQLite database"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00", "binary"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "binary"),
    ],
)
def test_a_binary_file_is_of_no_format(content: bytes, says: str) -> None:
    found = detected(sure("a", 90), content=content)
    assert code(found) == "unknown_format"
    assert says in str(found.issue)


def test_one_nul_in_a_chat_does_not_make_it_binary() -> None:
    for content in ('{"a": "x\x00"}\n{"b": "x\x00"}\n', "#### 用户说\x00话\n"):
        assert detected(sure("a", 90), content=content).format is not None


def test_a_file_that_cannot_be_read_is_an_issue() -> None:
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
