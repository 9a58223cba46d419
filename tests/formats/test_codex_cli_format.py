"""Codex CLI: each message once, whichever of the two streams holds it, in the versions that were ever written."""

import json

from read_turns import as_lines, claimed, confidence, prefixes, read

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.codex.codex_cli import codex_cli
from tests.for_each import for_each

SESSION = "019fc8be-3658-7ca3-9e29-1a2b3c4d5e6f"
PATH = f"/home/mei/.codex/sessions/2026/03/02/rollout-2026-03-02T09-12-00-{SESSION}.jsonl"


def line(kind: str, second: int = 0, **payload: Json) -> JsonObject:
    return {"timestamp": f"2026-03-02T09:12:{second:02d}.512Z", "type": kind, "payload": payload}


def meta(session: str = SESSION, **fields: Json) -> JsonObject:
    git: JsonObject = {"branch": "main", "commit_hash": "87d292ac"}
    return line("session_meta", id=session, cwd="/home/mei/relay", cli_version="0.46.0", git=git, **fields)


def item(role: str, *texts: str, second: int = 1, **fields: Json) -> JsonObject:
    kind = "output_text" if role == "assistant" else "input_text"
    content: list[Json] = [{"type": kind, "text": text} for text in texts]
    return line("response_item", second, type="message", role=role, content=content, **fields)


def shown(kind: str, message: str) -> JsonObject:
    return line("event_msg", 1, type=kind, message=message)


ENVIRONMENT = "<environment_context>\n  <cwd>/home/mei/relay</cwd>\n</environment_context>"
CALL = line("response_item", 2, type="function_call", name="shell", arguments="{}", call_id="call_1")
OUTPUT = line(
    "response_item",
    2,
    type="function_call_output",
    call_id="call_1",
    output=json.dumps({"output": "3 失败", "metadata": {}}),
)


def test_what_stands_in_both_streams_is_said_once() -> None:
    history = as_lines(
        [
            meta(),
            item("user", ENVIRONMENT),
            item("user", "统一 go 版本"),
            shown("user_message", "统一 go 版本"),
            shown("agent_message", "I look into go.mod"),
            item("assistant", "I look into go.mod"),
            line("event_msg", type="token_count", info=None),
        ]
    )
    found = read(codex_cli, history, path=PATH)
    assert found.said == [("user", "统一 go 版本"), ("assistant", "I look into go.mod")]
    assert [turn.kind for turn in found.turns] == ["harness", "typed", "typed"]
    assert found.conversations == [f"codex_cli:{SESSION}"]


def test_a_side_that_only_the_screen_saw_is_read_from_there() -> None:
    history = as_lines(
        [meta(), item("user", ENVIRONMENT), shown("user_message", "只在屏幕上"), item("assistant", "Seen")]
    )
    assert read(codex_cli, history).said == [("user", "只在屏幕上"), ("assistant", "Seen")]
    events_only = as_lines(
        [meta(), shown("user_message", "一"), shown("agent_message", "二"), shown("user_message", "三")]
    )
    assert read(codex_cli, events_only).said == [("user", "一"), ("assistant", "二"), ("user", "三")]


def test_items_are_read_where_nothing_else_holds_the_words() -> None:
    def completed(kind: str, words: str) -> JsonObject:
        return line(
            "event_msg",
            type="item_completed",
            item={"type": kind, "content": [{"type": "Text", "text": words}]},
        )

    items = [meta(), completed("UserMessage", "问"), completed("Plan", "?"), completed("AgentMessage", "答")]
    assert read(codex_cli, as_lines(items)).said == [("user", "问"), ("assistant", "答")]
    shown_too = [*items, shown("agent_message", "答"), item("user", "问")]
    assert sorted(read(codex_cli, as_lines(shown_too)).said) == [("assistant", "答"), ("user", "问")]


def test_what_agents_say_to_each_other_is_tagged() -> None:
    letter = line(
        "response_item", type="agent_message", author="a", content=[{"type": "input_text", "text": "查完了"}]
    )
    assert [turn.kind for turn in read(codex_cli, as_lines([meta(), letter])).turns] == ["harness"]


@for_each(
    "text",
    [
        ENVIRONMENT,
        "<user_instructions>\n\n请用中文\n\n</user_instructions>",
        "# AGENTS.md instructions for /home/mei/relay\n\n<INSTRUCTIONS>\n用 ruff\n</INSTRUCTIONS>",
        "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>",
        "<recommended_plugins>\n- github\n</recommended_plugins>",
    ],
)
def test_what_codex_puts_into_the_users_mouth_is_tagged(text: str) -> None:
    found = read(codex_cli, as_lines([meta(), item("user", text), item("user", text, "真正的问题")]))
    assert found.said == [("user", "真正的问题")]
    assert [turn.kind for turn in found.turns] == ["harness", "harness", "typed"]


def test_the_preamble_of_an_editor_stays_with_the_request() -> None:
    request = "# Context from my IDE setup:\n\n## My request for Codex:\n检查 go.mod"
    assert read(codex_cli, as_lines([meta(), item("user", request)])).said == [("user", request)]


def test_orders_of_the_developer_are_tagged() -> None:
    (turn,) = read(codex_cli, as_lines([meta(), item("developer", "<permissions instructions>")])).turns
    assert (turn.role, turn.kind) == ("system", "harness")


def test_tools_belong_to_the_answer_that_called_them_and_their_results_are_tagged() -> None:
    history = as_lines(
        [
            meta(),
            line("turn_context", cwd="/home/mei/relay", model="gpt-5.1-codex"),
            item("assistant", "我来运行测试"),
            CALL,
            OUTPUT,
            line(
                "response_item",
                type="reasoning",
                summary=[{"type": "summary_text", "text": "**想一想**"}],
                encrypted_content="x",
            ),
            item("assistant", "Three fail"),
        ]
    )
    answer, result, thought, last = read(codex_cli, history).turns
    assert answer.metadata["tool_calls"] == ({"name": "shell", "id": "call_1"},)
    assert (answer.metadata["model"], answer.metadata["git_branch"]) == ("gpt-5.1-codex", "main")
    assert (result.role, result.kind, result.content) == ("tool", "tool_result", "3 失败")
    assert (thought.kind, thought.content) == ("thinking", "**想一想**")
    assert "tool_calls" not in last.metadata


@for_each(
    "output",
    [
        "plain",
        [{"type": "input_text", "text": "plain"}],
        {"type": "input_text", "text": "plain"},
        {"content": "plain"},
    ],
)
def test_results_of_tools_are_read_in_each_shape_that_they_had(output: Json) -> None:
    history = as_lines(
        [meta(), line("response_item", type="custom_tool_call_output", call_id="c", output=output)]
    )
    assert [turn.content for turn in read(codex_cli, history).turns] == ["plain"]


def test_the_first_name_of_a_session_is_its_name() -> None:
    history = as_lines(
        [
            meta(forked_from_id="0190aaaa-parent"),
            meta("0190aaaa-parent"),
            item("user", "接着做"),
        ]
    )
    (turn,) = read(codex_cli, history).turns
    assert turn.conversation_id == f"codex_cli:{SESSION}"
    assert turn.metadata["parent_session"] == "0190aaaa-parent"


def test_a_compaction_is_a_summary_and_repeats_nothing() -> None:
    again: Json = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "旧的"}]}]
    compacted = line("compacted", message="We fixed the retries.", replacement_history=again)
    silent = line("compacted", message="", replacement_history=again)
    found = read(codex_cli, as_lines([meta(), item("user", "旧的"), compacted, silent]))
    assert [(turn.role, turn.kind) for turn in found.turns] == [("user", "typed"), ("summary", "summary")]


def test_ids_that_name_one_item_are_taken_and_others_are_not() -> None:
    native = "msg_0a1b2c3d4e5f60718293a4b5"
    blacked_out = "[trimmed for fixture]"
    history = as_lines(
        [
            meta(),
            item("user", "一", id=native),
            item("user", "二", id=blacked_out),
            item("user", "三", id=blacked_out),
            item("user", "四", id=native),
            item("user", "五", id="msg-1"),
        ]
    )
    assert [turn.native_id for turn in read(codex_cli, history).turns] == [native, None, None, None, None]


def test_flat_lines_of_the_first_versions_are_read() -> None:
    history = as_lines(
        [
            {
                "id": SESSION,
                "timestamp": "2025-06-01T08:00:00.000Z",
                "instructions": None,
                "git": {"branch": "main"},
            },
            {"record_type": "state"},
            {
                "type": "message",
                "id": None,
                "role": "user",
                "content": [{"type": "input_text", "text": "你好"}],
            },
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": "ok"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
        ]
    )
    found = read(codex_cli, history, path="/x.jsonl")
    assert found.said == [("user", "你好"), ("assistant", "Hello")]
    assert found.conversations == [f"codex_cli:{SESSION}"]
    assert confidence(codex_cli, history) >= 90


def test_flat_lines_with_a_message_and_created_at_are_read() -> None:
    history = as_lines(
        [
            {
                "created_at": "2025-09-10T12:00:00Z",
                "type": "message",
                "role": "user",
                "message": "翻译 hello",
            },
            {
                "created_at": "2025-09-10T12:00:01Z",
                "type": "function_call",
                "function": {"name": "translate"},
                "arguments": {},
            },
            {
                "created_at": "2025-09-10T12:00:01Z",
                "type": "function_result",
                "name": "translate",
                "result": "hola",
            },
            {"created_at": "2025-09-10T12:00:02Z", "role": "assistant", "content": "hola"},
        ]
    )
    found = read(codex_cli, history)
    assert found.said == [("user", "翻译 hello"), ("assistant", "hola")]
    assert found.kept[0].timestamp is not None
    assert confidence(codex_cli, history) >= 50


def test_a_rollout_in_one_document_is_read() -> None:
    document = {
        "session": {"timestamp": "2025-05-01T08:00:00.000Z", "id": SESSION, "instructions": ""},
        "items": [
            {"role": "user", "content": [{"type": "input_text", "text": "最早的版本"}], "type": "message"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes"}]},
        ],
    }
    for indent in (None, 2):
        history = json.dumps(document, ensure_ascii=False, indent=indent)
        found = read(codex_cli, history, path=f"/x/rollout-2025-05-01-{SESSION}.json")
        assert found.said == [("user", "最早的版本"), ("assistant", "Yes")]
        assert found.conversations == [f"codex_cli:{SESSION}"]
        assert confidence(codex_cli, history) >= 90


def test_a_session_without_a_name_has_that_of_its_file() -> None:
    assert read(codex_cli, as_lines([item("user", "?")]), path=PATH).conversations == [f"codex_cli:{SESSION}"]
    assert read(codex_cli, as_lines([item("user", "?")]), path="/x.txt").conversations == ["codex_cli:/x.txt"]


def test_unknown_records_and_items_are_named_and_damage_costs_its_line() -> None:
    lines = as_lines(
        [meta(), line("hologram"), line("response_item", type="telepathy"), item("user", "还在")]
    )
    found = read(codex_cli, lines + "[1]\n{\n" + '{"timestamp"')
    assert found.unknown == ["hologram", "telepathy"]
    assert found.said == [("user", "还在")]
    assert [issue.code for issue in found.issues] == [
        "malformed_record",
        "malformed_record",
        "truncated_tail",
    ]


def test_times_that_are_none_are_none() -> None:
    strange = {**item("user", "?"), "timestamp": "[trimmed for fixture]"}
    assert [turn.timestamp for turn in read(codex_cli, as_lines([meta(), strange])).turns] == [None]


def test_a_rollout_that_is_being_written_loses_nothing_that_is_whole() -> None:
    history = as_lines(
        [
            meta(),
            item("user", "查 go.mod"),
            item("assistant", "我来查"),
            CALL,
            OUTPUT,
            item("assistant", "好了"),
        ]
    )
    whole = read(codex_cli, history).said
    for prefix in prefixes(history, every=61):
        said = read(codex_cli, prefix, block_bytes=17).said
        assert said == whole[: len(said)]
    assert len(whole) == 3


def test_it_knows_its_own_by_content_alone_and_leaves_others_alone() -> None:
    assert confidence(codex_cli, as_lines([meta()])) >= 95
    assert claimed(codex_cli, as_lines([{"role": "user", "content": "?"}])) is None
    assert claimed(codex_cli, as_lines([{"messages": [{"role": "user", "content": "?"}]}])) is None
    prompts = claimed(codex_cli, as_lines([{"session_id": "s", "ts": 1772442720, "text": "?"}]))
    assert prompts is not None
    assert not prompts.is_transcript


def test_thoughts_in_the_words_of_openai_are_no_sign_of_it() -> None:
    thought: JsonObject = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    assert claimed(codex_cli, as_lines([{"type": "user", "content": "你好"}, thought])) is None
