"""Aider's history: who speaks in which line, and which of it a person typed."""

from chatmemory.pastchats.formats.tools.aider import aider
from chatmemory.pastchats.formats.tools.markdown import markdown
from tests.formats.read_turns import certainty, claimed, read

HISTORY = """
# aider chat started at 2025-11-03 09:12:44

> /home/mei/.venv/bin/aider --model sonnet␠␠
> Aider v0.86.1␠␠
> Main model: claude-sonnet-4-20250514 with diff edit format, infinite output␠␠
> Git repo: .git with 41 files␠␠

#### 给 webhook 加上重试␠␠
####␠␠
#### - 指数退避␠␠
#### - 最多五次␠␠

好的。先改 `deliver.py`：

#### Plan

> 引用：对方的文档说要看 Retry-After

deliver.py
```python
<<<<<<< SEARCH
# aider is not a header here
=======
# 五次
>>>>>>> REPLACE
```

> Tokens: 5.2k sent, 604 received. Cost: $0.02 message, $0.02 session.␠␠
> Applied edit to deliver.py␠␠

#### /undo␠␠
> You can't undo that.␠␠

#### /undo␠␠
""".replace("␠", " ")  # two at the end of each line that aider marks

PATH = "/repos/relay/.aider.chat.history.md"


PROMPT = ("user", "给 webhook 加上重试\n\n- 指数退避\n- 最多五次")


def test_the_words_of_each_side_are_whole_and_what_the_tool_printed_is_kept_apart() -> None:
    assert read(aider, HISTORY).said[0] == PROMPT
    # Where an editor took the spaces at the ends, the marks alone decide.
    stripped = read(aider, "\n".join(line.rstrip() for line in HISTORY.split("\n")))
    assert stripped.said[0] == PROMPT
    assert ("user", "Plan") in stripped.said
    answer = read(aider, HISTORY).kept[1]
    assert (answer.role, answer.metadata["model"]) == ("assistant", "claude-sonnet-4-20250514")
    assert answer.content.startswith("好的。先改 `deliver.py`：\n\n#### Plan\n\n> 引用")
    assert "# aider is not a header here" in answer.content
    assert answer.content.endswith("```")
    found = read(aider, HISTORY)
    assert [turn.content for turn in found.kept if turn.kind == "command"] == ["/undo", "/undo"]
    kinds = [(turn.kind, turn.role) for turn in found.turns]
    assert kinds[0] == ("harness", "tool")
    assert kinds.count(("tool_result", "tool")) == 2


def test_each_header_begins_a_conversation_and_it_is_known_by_its_header() -> None:
    second = HISTORY.replace("2025-11-03 09:12:44", "2025-11-04 10:00:00")
    found = read(aider, HISTORY + second, path=PATH)
    assert found.conversations == [f"aider:2025-11-03 09:12:44 {PATH}", f"aider:2025-11-04 10:00:00 {PATH}"]
    assert {(turn.timestamp, turn.project) for turn in found.turns} == {(None, "/repos/relay")}
    assert found.turns[0].metadata["started_at_local"] == "2025-11-03 09:12:44"
    assert certainty(aider, HISTORY) > 90
    assert certainty(aider, HISTORY, path=PATH) > 90
    assert certainty(markdown, HISTORY) == 0
    assert claimed(aider, "# A page\n\nAider writes `# aider chat started at` into a file.\n") is None
    page = f"# How aider keeps its chats\n\nIt begins with\n\n{HEADER}\nand goes on.\n"
    assert certainty(aider, page) < certainty(aider, HISTORY)


HEADER = "# aider chat started at 2025-10-20 21:49:17\n"


def test_sessions_of_commands_alone_and_of_nothing_and_a_map_of_the_repository_are_no_words() -> None:
    commands = "\n> You can skip this check  \n\n#### /exit  \n"
    assert read(aider, HEADER + commands).said == [("user", "/exit")]
    assert read(aider, HEADER).parsed == ()
    assert read(aider, HEADER + "\n> Here are summaries:  \nREADME.md\n\n⋮...\n").kept == []
    text = (
        "\n#### rename it  \n\nRename `a` to `b`\nin both files.\n\n"
        "#### Rename `a` to `b`  \n#### in both files.  \n\nDone.\n\n#### <blank>  \n"
    )
    assert read(aider, HEADER + text).said == [
        ("user", "rename it"),
        ("assistant", "Rename `a` to `b`\nin both files."),
        ("assistant", "Done."),
    ]
