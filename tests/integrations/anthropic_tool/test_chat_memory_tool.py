"""Anthropic's memory tool on our stores: whose files they are, what may stand in them, and how much."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic", reason="pip install 'chatmemory-effect[anthropic]'")

import anyio
import httpx2
from anthropic import Anthropic, AsyncAnthropic, DefaultAsyncHttpxClient, DefaultHttpxClient
from anthropic.lib.tools import ToolError
from anthropic.types.beta import BetaMessageParam

from chatmemory import ManagedRuntime, Namespace, ThreadRuntime
from chatmemory.effect import EffectFailed
from chatmemory.effect.services.clock import SystemClock
from chatmemory.errors import RepositoryError
from chatmemory.integrations.anthropic import BlockingChatMemoryTool, ChatMemoryTool, FileBounds
from chatmemory.integrations.anthropic.memory_files import MemoryFiles
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory_layers.stacks import MemoryTags, embedded, testing as stack_in_memory
from tests.for_each import for_each

Runtime = ManagedRuntime[MemoryTags]
Tool = ChatMemoryTool | BlockingChatMemoryTool
MEI = Namespace("mei", "harbor")
SMALL = FileBounds(file_bytes=20, total_bytes=50, entries=4)


@pytest.fixture
async def in_memory() -> AsyncGenerator[Runtime]:
    async with ManagedRuntime(stack_in_memory()) as opened:
        yield opened


async def told(tool: ChatMemoryTool, command: str, path: str, **rest: Any) -> str:
    return str(await tool.call({"command": command, "path": path, **rest}))


async def refused(tool: ChatMemoryTool, command: str, path: object = None, **rest: Any) -> str:
    paths = {} if path is None else {"path": path}
    with pytest.raises(ToolError) as caught:
        await tool.call({"command": command, **paths, **rest})
    return str(caught.value)


async def renamed(tool: ChatMemoryTool, old: str, new: str) -> str:
    return str(await tool.call({"command": "rename", "old_path": old, "new_path": new}))


async def paths_in(tool: ChatMemoryTool, path: str = "/memories") -> list[str]:
    listing = await told(tool, "view", path)
    return [line.split("\t")[1] for line in listing.splitlines()[2:]]


async def lines_of(tool: ChatMemoryTool, path: str) -> list[str]:
    content = await told(tool, "view", path)
    return [line.split("\t", 1)[1] for line in content.split("\n")[1:]]


async def test_what_one_tool_writes_another_reads(runtime: Runtime) -> None:
    monday, tuesday = ChatMemoryTool(MEI, runtime), ChatMemoryTool(MEI, runtime)
    await told(monday, "create", "/memories/关于梅/喜好.md", file_text="喝龙井茶\n")
    await told(monday, "insert", "/memories/关于梅/喜好.md", insert_line=1, insert_text="对花生过敏")
    await told(tuesday, "str_replace", "/memories/关于梅/喜好.md", old_str="龙井", new_str="普洱")
    assert await renamed(tuesday, "/memories/关于梅", "/memories/people/梅") == (
        "Successfully renamed /memories/关于梅 to /memories/people/梅"
    )
    assert await lines_of(monday, "/memories/people/梅/喜好.md") == ["喝普洱茶", "对花生过敏", ""]
    assert await paths_in(monday) == ["/memories/people/", "/memories/people/梅/"]
    assert await told(monday, "delete", "/memories/people") == "Successfully deleted /memories/people"
    assert await paths_in(tuesday) == []


OWNERS = [("a.b", "c"), ("a", "b.c"), ("a", ""), ("a%2Eb", "c"), ("A", ""), ("a/b", "c"), ("用户.1", "")]


async def test_users_and_apps_have_files_of_their_own(runtime: Runtime) -> None:
    tools = [ChatMemoryTool(Namespace(*owner), runtime) for owner in OWNERS]
    for number, tool in enumerate(tools):
        assert await paths_in(tool) == []
        await told(tool, "create", "/memories/mine", file_text=str(number))
    await tools[0].clear_all_memory()
    assert await paths_in(tools[0]) == []
    for number, tool in enumerate(tools[1:], start=1):
        assert await lines_of(tool, "/memories/mine") == [str(number)]


async def test_files_made_at_once_all_stand_in_the_listing(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime)
    made = [told(tool, "create", f"/memories/notes/{number:02}", file_text="") for number in range(30)]
    await asyncio.gather(*made)
    again = await asyncio.gather(
        *(told(tool, "create", "/memories/one", file_text=str(number)) for number in range(5)),
        return_exceptions=True,
    )
    assert [str(answer) for answer in again].count("File /memories/one already exists") == 4
    assert await paths_in(tool, "/memories/notes") == [f"/memories/notes/{number:02}" for number in range(30)]


async def test_a_directory_moves_with_all_its_files_or_not_at_all(runtime: Runtime) -> None:
    tool, names = ChatMemoryTool(MEI, runtime), [f"{n % 3}/{n:02}{'x' * 200}" for n in range(60)]
    for number, name in enumerate(names):
        await told(tool, "create", f"/memories/old/{name}", file_text=f"{number}")
    deep = "/memories/" + "/".join(["d" * 220] * 4)
    with pytest.raises(ToolError, match="too long: a name has at most 255 bytes, a path 1024"):
        await renamed(tool, "/memories/old", deep)
    assert await paths_in(tool) == ["/memories/old/", *(f"/memories/old/{number}/" for number in range(3))]
    await renamed(tool, "/memories/old", "/memories/new/place")
    assert await paths_in(tool, "/memories/old/..") == [
        f"/memories/old/../new/{end}" for end in ("", "place/")
    ]
    for number, name in enumerate(names):
        assert await lines_of(tool, f"/memories/new/place/{name}") == [f"{number}"]


TEXTS = {
    "crlf": "windows\r\nlines\r\n",
    "control": "NUL \0 and \x1b[31mescapes\x7f",
    "unicode": "\ufeffBOM, \u2028 separators, e\u0301 as two",
    "emoji": "🙂" * 1000,
    "json": '{"text": "\\u0000 as JSON"}',
    "megabyte": "x" * 1024 * 1024,
    "empty": "",
}


async def test_every_text_comes_back_as_it_was(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime)
    for name, text in TEXTS.items():
        await told(tool, "create", f"/memories/{name}", file_text=text)
        assert "\n".join(await lines_of(tool, f"/memories/{name}")) == text, name
        await renamed(tool, f"/memories/{name}", f"/memories/moved/{name}")
        assert "\n".join(await lines_of(tool, f"/memories/moved/{name}")) == text, name


async def test_one_name_written_in_two_ways_is_one_file(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime)
    composed, parted = "/memories/café", unicodedata.normalize("NFD", "/memories/café")
    assert composed != parted
    await told(tool, "create", parted, file_text="au lait")
    assert await lines_of(tool, composed) == ["au lait"]
    assert await refused(tool, "create", composed, file_text="") == f"File {composed} already exists"


@for_each(
    ("path", "said"),
    [
        ("/etc/passwd", "Path must start with /memories, got: /etc/passwd"),
        ("memories/a", "Path must start with /memories"),
        ("/memories-of-others/a", "Path must start with /memories"),
        ("", "Path must start with /memories"),
        ("/memories/../../etc", "would escape /memories directory"),
        ("/memories/../../memories/a", "would escape /memories directory"),
        ("/memories/..", "would escape /memories directory"),
        ("/memories/%2e%2e/a", "would escape /memories directory"),
        ("/memories/a%2F..%2f..%2F/b", "would escape /memories directory"),
        ("/memories/a\0b", "has a control character"),
        ("/memories/a\nb", "has a control character"),
        (f"/memories/{'长' * 86}", "too long"),
        ("/memories" + "/d" * 600, "too long"),
        ("/memories/\ud83d", "`path` has half a character"),
        (None, "`path` has to be a text, not None"),
        (7, "`path` has to be a text, not 7"),
    ],
)
async def test_no_path_leads_anywhere_else(in_memory: Runtime, path: Any, said: str) -> None:
    tool = ChatMemoryTool(MEI, in_memory)
    for command in ("view", "create", "delete"):
        assert said in await refused(tool, command, path, file_text="")
    with pytest.raises(ToolError):
        await tool.call({"command": "rename", "old_path": "/memories/a", "new_path": path})
    assert await paths_in(tool) == []


async def test_names_that_only_look_strange_are_names(in_memory: Runtime) -> None:
    tool = ChatMemoryTool(MEI, in_memory)
    names = ["100%", "%41.md", "a\\b", "a:b", "'; DROP TABLE--", "~", " ", "…"]
    for name in names:
        await told(tool, "create", f"/memories/{name}", file_text=name)
    assert await paths_in(tool) == [f"/memories/{name}" for name in sorted(names)]


async def test_what_the_sdk_leaves_to_the_file_system_is_said_in_words(in_memory: Runtime) -> None:
    tool = ChatMemoryTool(MEI, in_memory)
    for path in ("/memories/dir/file", "/memories/other"):
        await told(tool, "create", path, file_text="")
    assert await refused(tool, "create", "/memories/dir/file/more", file_text="") == (
        "Cannot create /memories/dir/file/more: /memories/dir/file is a file, not a directory"
    )
    with pytest.raises(ToolError, match="to /memories/dir/sub: it would be inside itself"):
        await renamed(tool, "/memories/dir", "/memories/dir/sub")
    with pytest.raises(ToolError, match="/memories/dir/file is a file, not a directory"):
        await renamed(tool, "/memories/other", "/memories/dir/file/x/y")


async def test_input_that_is_no_command_is_told(in_memory: Runtime) -> None:
    tool = ChatMemoryTool(MEI, in_memory)
    await told(tool, "create", "/memories/a", file_text="x\nx")
    path = "/memories/a"
    assert await refused(tool, "create", "/memories/b") == "`file_text` has to be a text, not None"
    assert "half a character" in await refused(tool, "create", "/memories/b", file_text="\ud83d")
    assert "`new_str`" in await refused(tool, "str_replace", path, old_str="x")
    assert "`insert_line`" in await refused(tool, "insert", path, insert_line="one", insert_text="")
    assert "`view_range`" in await refused(tool, "view", path, view_range=["one", 2])
    assert "`view_range`" in await refused(tool, "view", path, view_range="1-2")
    assert await lines_of(tool, path) == ["x", "x"]


async def test_a_text_that_is_there_a_million_times_is_not_listed_a_million_times(in_memory: Runtime) -> None:
    tool = ChatMemoryTool(MEI, in_memory)
    await told(tool, "create", "/memories/a", file_text="a\n" * 500_000)
    said = await refused(tool, "str_replace", "/memories/a", old_str="", new_str="x")
    assert said.endswith("49, 50, 50 and more. Please ensure it is unique")
    assert len(said) < 1000


async def test_a_memory_holds_so_much_and_no_more(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime, bounds=SMALL)
    assert await refused(tool, "create", "/memories/a", file_text="七个汉字是二十一") == (
        "The file /memories/a would have 24 bytes, more than the 20 that a file may have: "
        "split it, or leave out what is no longer needed"
    )
    await told(tool, "create", "/memories/a", file_text="x" * 20)
    assert "21 bytes" in await refused(tool, "str_replace", "/memories/a", old_str="x" * 20, new_str="y" * 21)
    assert "22 bytes" in await refused(tool, "insert", "/memories/a", insert_line=0, insert_text="")
    await told(tool, "create", "/memories/b", file_text="x" * 20)
    assert await refused(tool, "create", "/memories/c", file_text="x" * 11) == (
        "The files in /memories would have 51 bytes, more than the 50 that they may have: shorten or delete some first"
    )
    assert await refused(tool, "create", "/memories/c/d/e", file_text="") == (
        "There would be 5 files and directories in /memories, more than the 4 that there may be: "
        "delete some first, or put into one file what belongs together"
    )
    with pytest.raises(ToolError, match="5 files and directories"):
        await renamed(tool, "/memories/a", "/memories/d/e/f/a")
    assert await paths_in(tool) == ["/memories/a", "/memories/b"]


async def test_a_memory_above_its_bounds_can_still_shrink(in_memory: Runtime) -> None:
    await told(ChatMemoryTool(MEI, in_memory), "create", "/memories/a/b/c/d/e", file_text="x" * 60)
    tool = ChatMemoryTool(MEI, in_memory, bounds=SMALL)
    await renamed(tool, "/memories/a/b/c/d/e", "/memories/e")
    await told(tool, "str_replace", "/memories/e", old_str="x" * 60, new_str="x" * 59)
    await told(tool, "delete", "/memories/a")
    assert await paths_in(tool) == ["/memories/e"]


async def test_a_file_that_somebody_took_out_of_the_store_is_said_to_be_gone(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime)
    for name in ("gone", "here"):
        await told(tool, "create", f"/memories/d/{name}", file_text=name)
    name = ItemName(MemoryFiles(MEI).labels, "/d/gone")
    items = await runtime.service(ItemRepositoryTag)
    (await items.write((ItemPut(name, None),), now=SystemClock().now())).unwrap()
    said = "The file /memories/d/gone no longer exists (may have been deleted or renamed concurrently)."
    assert await refused(tool, "view", "/memories/d/gone") == said
    await renamed(tool, "/memories/d", "/memories/e")
    assert await lines_of(tool, "/memories/e/here") == ["here"]
    await told(tool, "delete", "/memories/e/gone")
    assert await paths_in(tool, "/memories/e") == ["/memories/e/here"]


async def test_all_of_one_users_memory_can_be_cleared(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime)
    await told(tool, "create", "/memories/a/b", file_text="x")
    assert await tool.clear_all_memory() == "All memory cleared"
    items = await runtime.service(ItemRepositoryTag)
    assert (await items.namespaces((), now=SystemClock().now())).unwrap() == (), "and no item is left"


async def test_a_closed_runtime_and_a_store_that_cannot_be_opened_are_errors_of_the_tool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = ThreadRuntime(stack_in_memory())
    runtime.close()
    said = await refused(ChatMemoryTool(MEI, runtime), "view", "/memories")
    assert said == "the runtime of this memory is closed"
    (tmp_path / "notes.txt").write_text("no store", "utf-8")
    unopened = ThreadRuntime(embedded(tmp_path / "notes.txt"))
    with pytest.raises(ToolError, match="not a store") as caught:
        await ChatMemoryTool(MEI, unopened).call({"command": "view", "path": "/memories"})
    assert isinstance(caught.value.__cause__, EffectFailed)
    assert isinstance(caught.value.__cause__.error, RepositoryError)
    assert "not a store" in caplog.text, "whoever runs the agent learns of it too"
    unopened.close()


async def test_how_a_tool_is_made_and_told_to_the_api(in_memory: Runtime) -> None:
    with pytest.raises(ValueError, match=r"an id needs at least one character @ \$.namespace.user"):
        ChatMemoryTool(Namespace(""), in_memory)
    with pytest.raises(TypeError, match="can only be awaited: give a ThreadRuntime for calls that block"):
        BlockingChatMemoryTool(MEI, in_memory)
    tool = ChatMemoryTool(MEI, in_memory, cache_control={"type": "ephemeral"})
    told_ = {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}
    assert (tool.name, tool.to_dict()) == ("memory", told_)


def test_a_tool_serves_an_agent_on_trio() -> None:
    async def use() -> list[str]:
        tool = ChatMemoryTool(MEI, runtime)
        await told(tool, "create", "/memories/a", file_text="三重奏")
        return await lines_of(tool, "/memories/a")

    with ThreadRuntime(stack_in_memory()) as runtime:
        assert anyio.run(use, backend="trio") == ["三重奏"]


QUESTION: list[BetaMessageParam] = [{"role": "user", "content": "记住：我对花生过敏。"}]


class Claude:
    """Calls the memory tool as it is told, then says what it was answered; *read* are the results of its calls."""

    def __init__(self, calls: Sequence[dict[str, Any]]) -> None:
        self.calls = calls
        self.tools: Any = None
        self.read: list[dict[str, Any]] = []

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(request.content)
        self.tools = asked.get("tools", self.tools)
        said = asked["messages"][-1]["content"]
        if isinstance(said, list):
            self.read = said
            content: list[dict[str, Any]] = [{"type": "text", "text": "好的"}]
        else:
            content = [
                {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": call}
                for number, call in enumerate(self.calls)
            ]
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": "end_turn" if self.read else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    @property
    def results(self) -> list[tuple[str, bool]]:
        """What each call was answered, and whether as an error."""
        return [(result["content"], result.get("is_error", False)) for result in self.read]


CALLS = [
    {"command": "create", "path": "/memories/过敏.md", "file_text": "花生"},
    {"command": "create", "path": "/memories/过敏.md", "file_text": "牛奶"},
    {"command": "view", "path": "/memories/过敏.md"},
    {"command": "view", "path": "/memories/../etc"},
    {"command": "fly", "path": "/memories"},
]
ANSWERS = [
    ("File created successfully at: /memories/过敏.md", False),
    ("File /memories/过敏.md already exists", True),
    ("Here's the content of /memories/过敏.md with line numbers:\n     1\t花生", False),
    ("Path /memories/../etc would escape /memories directory", True),
]


OPTIONS: Any = {"model": "claude", "max_tokens": 99, "messages": QUESTION}


async def test_both_runners_of_the_sdk_hand_the_model_our_answers(threads: ThreadRuntime[MemoryTags]) -> None:
    claude = Claude(CALLS)
    transport = httpx2.MockTransport(claude.answer)
    async with AsyncAnthropic(
        api_key="none", http_client=DefaultAsyncHttpxClient(transport=transport)
    ) as client:
        tool = ChatMemoryTool(MEI, threads)
        await client.beta.messages.tool_runner(**OPTIONS, tools=[tool]).until_done()
    assert claude.tools == [{"type": "memory_20250818", "name": "memory"}]
    assert claude.results[:4] == ANSWERS
    assert claude.results[4][1], "a command that nobody knows is an error as well"

    claude = Claude(CALLS)
    transport = httpx2.MockTransport(claude.answer)
    with Anthropic(api_key="none", http_client=DefaultHttpxClient(transport=transport)) as blocking:
        other = BlockingChatMemoryTool(Namespace("li"), threads)
        blocking.beta.messages.tool_runner(**OPTIONS, tools=[other]).until_done()
    assert claude.results[:4] == ANSWERS
