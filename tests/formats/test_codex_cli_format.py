"""Codex CLI: each message once, whichever of the two streams holds it, in the versions that were ever written."""

import json
from typing import Any

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.tools.codex_cli import codex_cli
from tests.for_each import for_each
from tests.formats.large_history import as_json, lines
from tests.formats.read_turns import Read, certainty, claimed, is_beside, read

SESSION = "019fc8be-3658-7ca3-9e29-1a2b3c4d5e6f"
PATH = f"/home/mei/.codex/sessions/2026/03/02/rollout-2026-03-02T09-12-00-{SESSION}.jsonl"


def line(kind: str, **payload: Json) -> JsonObject:
    return {"timestamp": "2026-03-02T09:12:01.512Z", "type": kind, "payload": payload}


def meta(session: str = SESSION, **fields: Json) -> JsonObject:
    git: JsonObject = {"branch": "main", "commit_hash": "87d292ac"}
    return line("session_meta", id=session, cwd="/home/mei/relay", cli_version="0.46.0", git=git, **fields)


def message(role: str, *texts: str, **fields: Json) -> JsonObject:
    kind = "output_text" if role == "assistant" else "input_text"
    content: list[Json] = [{"type": kind, "text": text} for text in texts]
    return {"type": "message", "role": role, "content": content, **fields}


def item(role: str, *texts: str, **fields: Json) -> JsonObject:
    return response(**message(role, *texts, **fields))


def response(**item: Json) -> JsonObject:
    return line("response_item", **item)


def shown(kind: str, message: str) -> JsonObject:
    return line("event_msg", type=kind, message=message)


def reads(*records: JsonObject) -> Read:
    return read(codex_cli, lines(meta(), *records), path=PATH)


ENVIRONMENT = "<environment_context>\n  <cwd>/home/mei/relay</cwd>\n</environment_context>"


def test_what_stands_in_several_streams_is_said_once_and_read_from_the_one_that_has_it() -> None:
    found = reads(
        item("user", ENVIRONMENT),
        item("user", "统一 go 版本"),
        shown("user_message", "统一 go 版本"),
        shown("agent_message", "I look into go.mod"),
        item("assistant", "I look into go.mod"),
        line("event_msg", type="token_count", info=None),
    )
    assert found.said == [("user", "统一 go 版本"), ("assistant", "I look into go.mod")]
    assert [turn.kind for turn in found.turns] == ["harness", "typed", "typed"]
    assert found.conversations == [f"codex_cli:{SESSION}"]
    seen = reads(item("user", ENVIRONMENT), shown("user_message", "只在屏幕上"), item("assistant", "Seen"))
    assert seen.said == [("user", "只在屏幕上"), ("assistant", "Seen")]
    events_only = reads(shown("user_message", "一"), shown("agent_message", "二"))
    assert events_only.said == [("user", "一"), ("assistant", "二")]

    def completed(kind: str, words: str) -> JsonObject:
        content: Json = [{"type": "Text", "text": words}]
        return line("event_msg", type="item_completed", item={"type": kind, "content": content})

    items = [completed("UserMessage", "问"), completed("Plan", "?"), completed("AgentMessage", "答")]
    assert reads(*items).said == [("user", "问"), ("assistant", "答")]
    shown_too = reads(*items, shown("agent_message", "答"), item("user", "问"))
    assert sorted(shown_too.said) == [("assistant", "答"), ("user", "问")]


OF_CODEX = [
    ENVIRONMENT,
    "<user_instructions>\n\n请用中文\n\n</user_instructions>",
    "# AGENTS.md instructions for /home/mei/relay\n\n<INSTRUCTIONS>\n用 ruff\n</INSTRUCTIONS>",
    "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>",
    "<recommended_plugins>\n- github\n</recommended_plugins>",
]


@for_each("text", OF_CODEX)
def test_what_codex_puts_into_the_users_mouth_is_tagged(text: str) -> None:
    found = reads(item("user", text), item("user", text, "真正的问题"))
    assert found.said == [("user", "真正的问题")]
    assert [turn.kind for turn in found.turns] == ["harness", "harness", "typed"]


def test_a_compaction_repeats_nothing_and_orders_and_letters_between_agents_are_tagged() -> None:
    request = "# Context from my IDE setup:\n\n## My request for Codex:\n检查 go.mod"
    assert reads(item("user", request)).said == [("user", request)]
    letter = response(type="agent_message", author="a", content=[{"type": "input_text", "text": "查完了"}])
    order, said = reads(item("developer", "<permissions instructions>"), letter).turns
    assert (order.role, order.kind, said.kind) == ("system", "harness", "harness")
    again: Json = [message("user", "旧的")]
    compacted = line("compacted", message="We fixed the retries.", replacement_history=again)
    silent = line("compacted", message="", replacement_history=again)
    found = reads(item("user", "旧的"), compacted, silent)
    assert [(turn.role, turn.kind) for turn in found.turns] == [("user", "typed"), ("summary", "summary")]


def test_tools_belong_to_the_answer_that_called_them_in_each_shape_that_they_had() -> None:
    summary: Json = [{"type": "summary_text", "text": "**想一想**"}]
    output = json.dumps({"output": "3 失败", "metadata": {}})
    answer, result, thought, last = reads(
        line("turn_context", cwd="/home/mei/relay", model="gpt-5.1-codex"),
        item("assistant", "我来运行测试"),
        response(type="function_call", name="shell", arguments="{}", call_id="call_1"),
        response(type="function_call_output", call_id="call_1", output=output),
        response(type="reasoning", summary=summary, encrypted_content="x"),
        item("assistant", "Three fail"),
    ).turns
    assert answer.metadata["tool_calls"] == ({"name": "shell", "id": "call_1"},)
    assert (answer.metadata["model"], answer.metadata["git_branch"]) == ("gpt-5.1-codex", "main")
    assert (result.role, result.kind, result.content) == ("tool", "tool_result", "3 失败")
    assert (thought.kind, thought.content) == ("thinking", "**想一想**")
    assert "tool_calls" not in last.metadata
    block: JsonObject = {"type": "input_text", "text": "plain"}
    shapes: list[Json] = ["plain", [block], block, {"content": "plain"}]
    found = reads(*(response(type="custom_tool_call_output", call_id="c", output=one) for one in shapes))
    assert [turn.content for turn in found.turns] == ["plain"] * len(shapes)


def test_a_session_keeps_its_first_name_and_an_item_its_own_id() -> None:
    parent = "0190aaaa-parent"
    history = lines(meta(forked_from_id=parent), meta(parent), item("user", "接着做"))
    (turn,) = read(codex_cli, history).turns
    assert turn.conversation_id == f"codex_cli:{SESSION}"
    assert turn.metadata["parent_session"] == parent
    strange = lines({**item("user", "?"), "timestamp": "[trimmed for fixture]"})
    for path, name in ((PATH, SESSION), ("/x.txt", "/x.txt")):
        (turn,) = read(codex_cli, strange, path=path).turns
        assert (turn.conversation_id, turn.timestamp) == (f"codex_cli:{name}", None)
    native, blacked_out = "msg_0a1b2c3d4e5f60718293a4b5", "[trimmed for fixture]"
    ids = [native, blacked_out, blacked_out, native, "msg-1"]
    found = reads(*(item("user", f"第 {number} 句", id=one) for number, one in enumerate(ids)))
    assert [turn.native_id for turn in found.turns] == [native, None, None, None, None]


def test_flat_lines_of_the_first_versions_are_read() -> None:
    call: JsonObject = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    flat = lines(
        {
            "id": SESSION,
            "timestamp": "2025-06-01T08:00:00.000Z",
            "instructions": None,
            "git": {"branch": "main"},
        },
        {"record_type": "state"},
        message("user", "你好", id=None),
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        message("assistant", "Hello"),
    )
    found = read(codex_cli, flat, path="/x.jsonl")
    assert found.said == [("user", "你好"), ("assistant", "Hello")]
    assert found.conversations == [f"codex_cli:{SESSION}"]
    assert certainty(codex_cli, flat) >= 90

    def made(second: int, **fields: Any) -> dict[str, Any]:
        return {"created_at": f"2025-09-10T12:00:0{second}Z", **fields}

    with_times = lines(
        made(0, type="message", role="user", message="翻译 hello"),
        made(1, type="function_call", function={"name": "translate"}, arguments={}),
        made(1, type="function_result", name="translate", result="hola"),
        made(2, role="assistant", content="hola"),
    )
    found = read(codex_cli, with_times)
    assert found.said == [("user", "翻译 hello"), ("assistant", "hola")]
    assert found.kept[0].timestamp is not None
    assert certainty(codex_cli, with_times) >= 50


@for_each("indent", [None, 2])
def test_a_rollout_in_one_document_is_read(indent: int | None) -> None:
    session = {"timestamp": "2025-05-01T08:00:00.000Z", "id": SESSION, "instructions": ""}
    items = [message("user", "最早的版本"), message("assistant", "Yes")]
    history = as_json({"session": session, "items": items}, indent=indent)
    found = read(codex_cli, history, path=f"/x/rollout-2025-05-01-{SESSION}.json")
    assert found.said == [("user", "最早的版本"), ("assistant", "Yes")]
    assert found.conversations == [f"codex_cli:{SESSION}"]
    assert certainty(codex_cli, history) >= 90


def test_it_names_unknown_records_and_items_and_knows_its_own_by_content_alone() -> None:
    whole = lines(meta(), line("hologram"), response(type="telepathy"), item("user", "还在"))
    found = read(codex_cli, whole + '[1]\n{\n{"timestamp"')
    assert found.unknown == ["hologram", "telepathy"]
    assert found.said == [("user", "还在")]
    codes = ["malformed_record", "malformed_record", "truncated_tail"]
    assert [issue.code for issue in found.issues] == codes
    assert certainty(codex_cli, lines(meta())) >= 95
    assert is_beside(codex_cli, lines({"session_id": "s", "ts": 1772442720, "text": "?"}))
    question = {"role": "user", "content": "?"}
    thought = {"type": "reasoning", "summary": [], "encrypted_content": "x"}  # in the words of OpenAI
    for others in ([question], [{"messages": [question]}], [{"type": "user", "content": "你好"}, thought]):
        assert claimed(codex_cli, lines(*others)) is None
