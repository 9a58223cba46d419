"""Anthropic's memory tool on our stores: whose files they are, what may stand in them, how much, and what they survive."""

import asyncio
import json
import unicodedata
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("anthropic", reason="pip install 'chatmemory-effect[anthropic]'")

import anyio
import httpx2
from anthropic import Anthropic, DefaultHttpxClient
from anthropic.lib.tools import ToolError

from chatmemory import ManagedRuntime, Namespace, ThreadRuntime
from chatmemory.effect.services.clock import SystemClock
from chatmemory.integrations.anthropic import BlockingChatMemoryTool, ChatMemoryTool, FileBounds
from chatmemory.integrations.anthropic.file_tree import size_text
from chatmemory.integrations.anthropic.memory_files import MemoryFiles
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory_layers.stacks import MemoryTags, embedded, testing as stack_in_memory
from tests.for_each import for_each
from tests.integrations.adapter_endurance import PATIENCE_SECONDS, AdapterEndurance, Runtime as AnyRuntime

Runtime = ManagedRuntime[MemoryTags]
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


OWNERS = [("a.b", "c"), ("a", "b.c"), ("a", ""), ("a%2Eb", "c"), ("A", ""), ("a/b", "c"), ("用户.1", "")]


async def test_users_and_apps_have_files_of_their_own(runtime: Runtime) -> None:
    tools = [ChatMemoryTool(Namespace(*owner), runtime) for owner in OWNERS]
    for number, tool in enumerate(tools):
        assert await paths_in(tool) == []
        await told(tool, "create", "/memories/mine", file_text=str(number))
    assert await tools[0].clear_all_memory() == "All memory cleared"
    assert await paths_in(tools[0]) == []
    for number, tool in enumerate(tools[1:], start=1):
        assert await lines_of(tool, "/memories/mine") == [str(number)]
        await tool.clear_all_memory()
    items = await runtime.service(ItemRepositoryTag)
    assert (await items.namespaces((), now=SystemClock().now())).unwrap() == (), "and no item is left"


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


TEXTS = [
    *(
        "windows\r\nlines\r\n",
        "NUL \0 and \x1b[31mescapes\x7f",
        "\ufeffBOM, \u2028 separators, e\u0301 as two",
    ),
    *("🙂" * 1000, '{"text": "\\u0000 as JSON"}', "x" * 1024 * 1024, ""),
]


async def test_every_text_comes_back_as_it_was_under_its_name(runtime: Runtime) -> None:
    tool = ChatMemoryTool(MEI, runtime)
    names = ["100%", "%41.md", "a\\b", "a:b", "'; DROP TABLE--", "~", " "]
    for name, text in zip(names, TEXTS, strict=True):
        await told(tool, "create", f"/memories/{name}", file_text=text)
        assert "\n".join(await lines_of(tool, f"/memories/{name}")) == text, name
    assert await paths_in(tool) == [f"/memories/{name}" for name in sorted(names)]
    composed, parted = "/memories/café", unicodedata.normalize("NFD", "/memories/café")
    await told(tool, "create", parted, file_text="au lait")
    assert await lines_of(tool, composed) == ["au lait"], "one name that is written in two ways is one file"
    assert await refused(tool, "create", composed, file_text="") == f"File {composed} already exists"


@for_each(
    ("path", "said"),
    [
        *(
            (path, "Path must start with /memories")
            for path in ("/etc/passwd", "memories/a", "/memories-of-others/a", "")
        ),
        *(
            (f"/memories/{end}", "would escape /memories directory")
            for end in ("../../etc", "../../memories/a", "..")
        ),
        *(
            (f"/memories/{end}", "would escape /memories directory")
            for end in ("%2e%2e/a", "a%2F..%2f..%2F/b")
        ),
        *((f"/memories/a{control}b", "has a control character") for control in "\0\n"),
        *((path, "too long") for path in (f"/memories/{'长' * 86}", "/memories" + "/d" * 600)),
        ("/memories/\ud83d", "`path` has half a character"),
        *((path, f"`path` has to be a text, not {path}") for path in (None, 7)),
    ],
)
async def test_no_path_leads_anywhere_else(in_memory: Runtime, path: Any, said: str) -> None:
    tool = ChatMemoryTool(MEI, in_memory)
    for command in ("view", "create", "delete"):
        assert said in await refused(tool, command, path, file_text="")
    with pytest.raises(ToolError):
        await tool.call({"command": "rename", "old_path": "/memories/a", "new_path": path})
    assert await paths_in(tool) == []


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
    tool, path = ChatMemoryTool(MEI, in_memory), "/memories/a"
    await told(tool, "create", path, file_text="x\nx")
    assert await refused(tool, "create", "/memories/b") == "`file_text` has to be a text, not None"
    assert "half a character" in await refused(tool, "create", "/memories/b", file_text="\ud83d")
    assert "`new_str`" in await refused(tool, "str_replace", path, old_str="x")
    assert "`insert_line`" in await refused(tool, "insert", path, insert_line="one", insert_text="")
    for view_range in (["one", 2], "1-2"):
        assert "`view_range`" in await refused(tool, "view", path, view_range=view_range)
    assert await lines_of(tool, path) == ["x", "x"]
    await told(tool, "create", "/memories/long", file_text="a\n" * 500_000)
    said = await refused(tool, "str_replace", "/memories/long", old_str="", new_str="x")
    assert said.endswith("49, 50, 50 and more. Please ensure it is unique"), (
        "and not each of a million places"
    )
    assert len(said) < 1000


CALLS = [
    {"command": "create", "path": "/memories/过敏.md", "file_text": "花生"},
    {"command": "create", "path": "/memories/过敏.md", "file_text": "牛奶"},
    {"command": "view", "path": "/memories/../etc"},
    {"command": "fly", "path": "/memories"},
]
ANSWERS = [
    ("File created successfully at: /memories/过敏.md", False),
    ("File /memories/过敏.md already exists", True),
    ("Path /memories/../etc would escape /memories directory", True),
]


def test_a_runner_of_the_sdk_hands_the_model_our_answers_and_refusals(
    threads: ThreadRuntime[MemoryTags],
) -> None:
    read: list[tuple[str, bool]] = []

    def model(request: httpx2.Request) -> httpx2.Response:
        """Call the tool as ``CALLS`` says, then end; its answers go to *read*."""
        asked = json.loads(request.content)
        said = asked["messages"][-1]["content"]
        is_answered = isinstance(said, list)
        assert is_answered or asked["tools"] == [{"type": "memory_20250818", "name": "memory"}]
        read.extend((each["content"], each.get("is_error", False)) for each in said if is_answered)
        calls = [
            {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": call}
            for number, call in enumerate(CALLS)
        ]
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": "好的"}] if is_answered else calls,
            "stop_reason": "end_turn" if is_answered else "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    http = DefaultHttpxClient(transport=httpx2.MockTransport(model))
    with Anthropic(api_key="none", http_client=http) as client:
        client.beta.messages.tool_runner(
            model="claude",
            max_tokens=99,
            messages=[{"role": "user", "content": "我能吃什么？"}],
            tools=[BlockingChatMemoryTool(MEI, threads)],
        ).until_done()
    assert read[:3] == ANSWERS
    assert read[3][1], "a command that nobody knows is an error as well"


async def test_a_memory_holds_so_much_and_no_more_and_one_that_holds_more_can_shrink(
    runtime: Runtime,
) -> None:
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
    others = Namespace("above its bounds")
    await told(ChatMemoryTool(others, runtime), "create", "/memories/a/b/c/d/e", file_text="x" * 60)
    shrinking = ChatMemoryTool(others, runtime, bounds=SMALL)
    await renamed(shrinking, "/memories/a/b/c/d/e", "/memories/e")
    await told(shrinking, "str_replace", "/memories/e", old_str="x" * 60, new_str="x" * 59)
    await told(shrinking, "delete", "/memories/a")
    assert await paths_in(shrinking) == ["/memories/e"]


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


async def test_a_store_that_cannot_be_opened_is_an_error_of_the_tool_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unopened = ThreadRuntime(embedded(tmp_path))
    assert "is a folder" in await refused(ChatMemoryTool(MEI, unopened), "view", "/memories")
    unopened.close()
    assert "is a folder" in caplog.text, "whoever runs the agent learns of it too"


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


LOG = "/memories/日志.md"


def lines(name: object, number: int) -> str:
    return "\n".join(f"{name} {number} {part}" for part in "abc")


class TestEndurance(AdapterEndurance):
    """A batch is three lines that are put before the others; the listing, an item of its own, has to know the size."""

    failure: ClassVar[type[Exception]] = ToolError

    def adapter(self, runtime: AnyRuntime) -> ChatMemoryTool:
        return ChatMemoryTool(MEI, runtime)

    async def write(self, adapter: ChatMemoryTool, name: str, number: int) -> None:
        insert = {"insert_line": 0, "insert_text": lines(name, number)}
        try:
            await told(adapter, "insert", LOG, **insert)
        except ToolError as refusal:
            if "does not exist" not in str(refusal):
                raise
            with suppress(ToolError):  # another process has created it meanwhile
                await told(adapter, "create", LOG, file_text="")
            await told(adapter, "insert", LOG, **insert)

    async def numbers(self, adapter: ChatMemoryTool, name: str) -> list[int]:
        text = "\n".join(await lines_of(adapter, LOG))
        heads = [line.split() for line in text.splitlines()[::3]]
        assert text == "".join([lines(head[0], int(head[1])) + "\n" for head in heads]), "no batch is torn"
        size = len(text.encode())
        assert (await told(adapter, "view", "/memories")).endswith(f"\n{size_text(size)}\t{LOG}"), (
            "nor the two items"
        )
        return [int(head[1]) for head in reversed(heads) if head[0] == name]


async def test_a_directory_whose_move_is_cancelled_stands_in_one_place_with_all_its_files(
    runtime: Runtime,
) -> None:
    tool, names = ChatMemoryTool(MEI, runtime), [f"{number:02}.md" for number in range(20)]
    for name in names:
        await told(tool, "create", f"/memories/a/{name}", file_text=name)
    place, moves = "a", 0
    for number in range(40):
        other = "b" if place == "a" else "a"
        task = asyncio.ensure_future(renamed(tool, f"/memories/{place}", f"/memories/{other}"))
        for _ in range(number % 10):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_SECONDS)
        paths = await paths_in(tool)
        moves += paths[0] != f"/memories/{place}/"
        place = paths[0].split("/")[2]
        assert paths == [f"/memories/{place}/", *(f"/memories/{place}/{name}" for name in names)]
        assert await lines_of(tool, paths[1 + number % 20]) == [names[number % 20]]
    assert moves > 0
