"""The same commands get the same answers from our tool as from the SDK's, whose files lie on disk, and leave the same files."""

import os
import tempfile
from collections.abc import Generator
from itertools import count
from typing import Any, TypeAlias

import pytest

pytest.importorskip("anthropic", reason="pip install 'chatmemory-effect[anthropic]'")

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import example, given, settings, strategies as st

from chatmemory import Namespace, ThreadRuntime
from chatmemory.integrations.anthropic import BlockingChatMemoryTool
from chatmemory.integrations.anthropic.file_tree import (
    CommandRefusedError,
    inserted,
    replaced,
    shown,
    size_text,
)
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory_layers.stacks import testing as stack_in_memory

Command: TypeAlias = dict[str, Any]

FILE = "/memories/a.md"
TEXTS = st.text(st.sampled_from("ab我é \t\r\0\u2028🙂") | st.just("\n"), max_size=40)
PIECES = st.text(st.sampled_from("ab我\n\r"), max_size=3)
LINES = st.integers(-2, 5)
NAMES = st.sampled_from(["a", "b", "茶.md", ".hidden", "a b", "..", ".", "", "%41"])
PATHS = st.lists(NAMES, max_size=4).map(lambda names: "/".join(["/memories", *names])) | st.just("/etc/a")


def path_command(name: str, *fields: str, **rest: st.SearchStrategy[Any]) -> st.SearchStrategy[Command]:
    paths = dict.fromkeys(fields, PATHS)
    return st.fixed_dictionaries({"command": st.just(name), **paths, **rest})


CREATE = path_command("create", "path", file_text=TEXTS)
COMMANDS = st.one_of(
    CREATE,
    path_command("view", "path", view_range=st.none() | st.lists(LINES, min_size=1, max_size=3)),
    path_command("str_replace", "path", old_str=PIECES, new_str=PIECES),
    path_command("insert", "path", insert_line=LINES, insert_text=PIECES),
    path_command("delete", "path"),
    path_command("rename", "old_path", "new_path"),
)


@pytest.fixture(scope="module")
def runtime() -> Generator[ThreadRuntime[ItemRepositoryTag]]:
    with ThreadRuntime(stack_in_memory()) as opened:
        yield opened


@given(TEXTS, st.none() | st.lists(LINES, min_size=1, max_size=3))
def test_a_file_is_shown_as_the_sdk_shows_it(text: str, view_range: list[int] | None) -> None:
    asked = {"command": "view", "path": FILE, "view_range": view_range}
    assert shown(FILE, text, view_range) == on_disk(text, asked)[1]


@given(TEXTS, PIECES, PIECES)
@example("aaa\naaa", "aa", "b")  # where it overlaps itself
@example("我\r\n" * 9, "", "b")
def test_a_text_is_replaced_as_the_sdk_replaces_it(text: str, old: str, new: str) -> None:
    asked = {"command": "str_replace", "path": FILE, "old_str": old, "new_str": new}
    try:
        ours = replaced(FILE, text, old, new)
    except CommandRefusedError as refusal:
        ours = text, f"refused: {refusal}"
    assert ours == on_disk(text, asked)


@given(TEXTS, LINES, TEXTS)
@example("a\nb", 1, "x\n\n")
@example("", 0, "\n")
def test_lines_are_inserted_as_the_sdk_inserts_them(text: str, line: int, new: str) -> None:
    asked = {"command": "insert", "path": FILE, "insert_line": line, "insert_text": new}
    try:
        ours = inserted(FILE, text, line, new)
    except CommandRefusedError as refusal:
        ours = text, f"refused: {refusal}"
    assert ours == on_disk(text, asked)


def on_disk(text: str, asked: Command) -> tuple[str, str]:
    """Return the text of a file after a command of the SDK's tool, and the answer."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = BetaLocalFilesystemMemoryTool(folder)
        theirs.call({"command": "create", "path": FILE, "file_text": text})
        answer = answer_of(theirs, asked)
        return (theirs.memory_root / "a.md").read_bytes().decode(), answer


def answer_of(tool: BlockingChatMemoryTool | BetaLocalFilesystemMemoryTool, asked: Command) -> str:
    try:
        return str(tool.call(asked))
    except ToolError as refusal:
        return f"refused: {refusal}"


users = count()


@settings(max_examples=150)
@given(st.lists(CREATE, min_size=1, max_size=4), st.lists(COMMANDS, min_size=1, max_size=12))
def test_commands_in_a_row_get_the_answers_of_the_sdk_and_leave_its_files(
    runtime: ThreadRuntime[ItemRepositoryTag], creating: list[Command], asked: list[Command]
) -> None:
    ours = BlockingChatMemoryTool(Namespace(f"user {next(users)}"), runtime)
    with tempfile.TemporaryDirectory() as folder:
        theirs = BetaLocalFilesystemMemoryTool(folder)
        for command in [*creating, *asked]:
            answer = answer_of(ours, command)
            assert answer == expected_answer(theirs, command, answer)
            for path in ["/memories", *everything_in(theirs)]:
                look = {"command": "view", "path": path}
                assert answer_of(ours, look) == expected_answer(theirs, look, "")


def expected_answer(tool: BetaLocalFilesystemMemoryTool, asked: Command, ours: str) -> str:
    """Return what the SDK's tool answers, without its two slips.

    It passes on exceptions of the file system, and a command that it does not carry out may leave directories behind.
    """
    before = set(tool.memory_root.rglob("*"))
    try:
        answer = answer_of(tool, asked)
    except OSError:
        assert "is a file, not a directory" in ours or "inside itself" in ours or "does not exist" in ours
        answer = ours
    if answer.startswith("refused"):
        for left in sorted(set(tool.memory_root.rglob("*")) - before, reverse=True):
            left.rmdir()
    return with_our_sizes(answer, tool, asked)


def with_our_sizes(answer: str, tool: BetaLocalFilesystemMemoryTool, asked: Command) -> str:
    """Return a listing with 4K for each directory: what one takes on disk is the file system's affair."""
    if not answer.startswith("Here're"):
        return answer
    header, own, *lines = answer.split("\n")
    sizes = [line.partition("\t") for line in [own, *lines]]
    shown_lines = [
        f"4K\t{path}" if path.endswith("/") or index == 0 else f"{size}\t{path}"
        for index, (size, _, path) in enumerate(sizes)
    ]
    return "\n".join([header, *shown_lines])


def everything_in(tool: BetaLocalFilesystemMemoryTool) -> list[str]:
    return [f"/memories/{path.relative_to(tool.memory_root)}" for path in tool.memory_root.rglob("*")]


@given(st.integers(0, 2**40))
def test_sizes_are_written_as_the_sdk_writes_them(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        theirs = BetaLocalFilesystemMemoryTool(folder)
        (theirs.memory_root / "a").touch()
        os.truncate(theirs.memory_root / "a", size)  # a hole takes no place on disk
        listing = answer_of(theirs, {"command": "view", "path": "/memories"})
    assert listing.split("\n")[-1] == f"{size_text(size)}\t/memories/a"
