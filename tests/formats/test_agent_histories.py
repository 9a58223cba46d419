"""What all histories of agents say: who said what, where and when."""

from typing import Any

from chatmemory.pastchats.formats.agents.antigravity import antigravity
from chatmemory.pastchats.formats.agents.factory_droid import factory_droid
from chatmemory.pastchats.formats.agents.jan import jan
from chatmemory.pastchats.formats.agents.kimi_cli import kimi_cli
from chatmemory.pastchats.formats.agents.pi import pi
from chatmemory.pastchats.formats.agents.qwen_code import qwen_code
from chatmemory.pastchats.formats.tools.cursor_store import cursor_store
from chatmemory.pastchats.formats.tools.goose import goose
from tests.for_each import for_each
from tests.formats.histories import detected, formats
from tests.formats.large_history import at, lines, text
from tests.formats.read_turns import claimed, read
from tests.formats.small_histories import AGENTS, ANSWERED, ASKED, CLOSED, TALK, THANKED

SHOP = "/home/lin/shop"
TITLED = {"title": "Nightly build"}


@for_each(
    ("name", "conversation", "native_id", "project", "metadata"),
    [
        ("antigravity", "antigravity:b1", "0", "", {}),
        ("cursor_store", "cursor_store:c1", "b0", SHOP, TITLED),
        ("factory_droid", "factory_droid:d1", "m0", SHOP, TITLED),
        ("goose", "goose:g1", "m0", SHOP, TITLED),
        ("jan", "jan:t1", "msg_0", "", {}),
        ("kimi_cli", "kimi_cli:k1", None, "", {}),
        ("pi", "pi:p1", "e0", SHOP, {}),
        ("qwen_code", "qwen_code:q1", "00000000-aaaa-4bbb-8ccc-000000000000", SHOP, {"git_branch": "main"}),
    ],
)
def test_it_says_who_said_what_where_and_when(
    name: str, conversation: str, native_id: str | None, project: str, metadata: dict[str, Any]
) -> None:
    ((path, history),) = AGENTS[name].items()
    found = read(formats().by_name[name], history, path=path)
    first = found.kept[0]
    assert found.said == list(TALK)
    assert found.conversations == [conversation]
    assert (first.native_id, first.project, dict(first.metadata)) == (native_id, project, metadata)
    assert (first.timestamp is None) == (name == "kimi_cli")


def qwen_record(number: int, kind: str, *parts: object, **more: object) -> dict[str, object]:
    links = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "q1"}
    message = {"role": "model" if kind == "assistant" else "user", "parts": list(parts)}
    return {**links, "timestamp": at(1), "type": kind, "cwd": SHOP, "message": message, **more}


def test_qwen_code_tells_thoughts_calls_results_and_notifications_apart() -> None:
    thought, call = {"text": "Layers?", "thought": True}, {"id": "c1", "name": "read_file", "args": {}}
    result = {"id": "c1", "response": {"output": "FROM python"}}
    history = lines(
        qwen_record(0, "user", {"text": ASKED}),
        qwen_record(1, "assistant", thought, {"text": ANSWERED}, {"functionCall": call}, model="qwen3-coder"),
        qwen_record(2, "tool_result", {"functionResponse": result}),
        qwen_record(3, "user", {"text": "task 1 is done"}, subtype="notification"),
        qwen_record(4, "system", systemPayload={"customTitle": "Nightly build"}, subtype="custom_title"),
        qwen_record(5, "user", {"text": THANKED}),
        qwen_record(6, "hologram"),
    )
    found = read(qwen_code, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED), ("user", THANKED)]
    kinds = ["typed", "thinking", "typed", "tool_result", "harness", "typed"]
    assert [turn.kind for turn in found.turns] == kinds
    assert found.kept[1].metadata["model"] == "qwen3-coder"
    assert found.kept[2].metadata["title"] == "Nightly build"
    assert found.unknown == ["hologram"]


PI = {"type": "session", "version": 3, "id": "p1", "timestamp": at(0), "cwd": SHOP}


def pi_record(kind: str, native_id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": native_id, "parentId": parent, "timestamp": at(1), **more}


def pi_entry(native_id: str, parent: str | None, role: str, words: str) -> dict[str, Any]:
    return pi_record("message", native_id, parent, message={"role": role, "content": text(words)})


def test_pi_marks_a_branch_that_was_left_and_keeps_a_record_that_damage_cut_off() -> None:
    history = lines(
        PI,
        pi_entry("a", None, "user", ASKED),
        pi_entry("b", "a", "assistant", "a wrong answer"),
        pi_entry("c", "b", "user", "no, not that"),
        pi_entry("d", "a", "assistant", ANSWERED),
        pi_entry("e", "d", "user", THANKED),
    )
    assert read(pi, history).standing == [ASKED, ANSWERED, THANKED]
    said = [("a", None, ASKED), ("b", "a", ANSWERED), ("c", "b", THANKED), ("d", "c", CLOSED)]
    whole = lines(PI, *(pi_entry(native_id, parent, "user", words) for native_id, parent, words in said))
    found = read(pi, whole.replace('{"type": "message", "id": "c"', '{"type": "mess', 1))
    assert [words for _, words in found.said] == [ASKED, ANSWERED, CLOSED]
    assert [issue.code for issue in found.issues] == ["malformed_record"]


def test_pi_tells_summaries_results_and_unknown_entries_apart() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}
    message = {"role": "assistant", "model": "m1", "content": [*text(ANSWERED), call]}
    history = lines(
        PI,
        pi_entry("a", None, "user", ASKED),
        pi_record("message", "b", "a", message=message),
        pi_entry("c", "b", "toolResult", "ok"),
        pi_record("compaction", "d", "c", summary="We mended the build."),
        pi_record("model_change", "e", "d"),
        pi_record("hologram", "f", "e"),
    )
    found = read(pi, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED), ("summary", "We mended the build.")]
    assert found.kept[1].metadata == {"model": "m1", "tool_calls": [{"name": "bash", "id": "c1"}]}
    assert [turn.kind for turn in found.turns] == ["typed", "typed", "tool_result", "summary"]
    assert found.unknown == ["hologram"]


def goose_message(number: int, role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"record": "message", "id": number, "session_id": "g2", "role": role}
    return {**about, "content_json": list(content), **more}


def test_goose_tells_requests_responses_and_unknown_content_apart() -> None:
    call = {"status": "success", "value": {"name": "shell"}}
    result = {"status": "success", "value": text("ok")}
    history = lines(
        {"record": "session", "id": "g2", "working_dir": SHOP},
        goose_message(1, "user", *text(ASKED)),
        goose_message(2, "assistant", *text(ANSWERED), {"type": "toolRequest", "id": "t1", "toolCall": call}),
        goose_message(3, "user", {"type": "toolResponse", "id": "t1", "toolResult": result}),
        goose_message(4, "user", {"type": "hologram"}),
        goose_message(5, "user", *text("hidden"), metadata_json={"userVisible": False}),
    )
    found = read(goose, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "shell", "id": "t1"}]
    assert [turn.kind for turn in found.turns] == ["typed", "typed", "tool_result", "harness"]
    assert found.unknown == ["content hologram"]


def test_the_lines_that_goose_kept_before_are_read() -> None:
    older = lines(
        {"working_dir": SHOP, "description": "Nightly build", "message_count": 1},
        {"role": "user", "created": 1780308000, "content": text(ASKED)},
    )
    assert claimed(goose, older) is not None
    assert claimed(pi, older) is None
    assert read(goose, older).said == [("user", ASKED)]


def droid_event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s1", **fields}


def droid_message(number: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    said = {"role": role, "content": list(content)}
    return {"type": "message", "id": f"m{number}", "timestamp": at(number), "message": said}


def test_a_stream_of_droid_exec_is_droids_and_says_its_answer_once() -> None:
    stream = lines(
        droid_event("system", subtype="init", cwd=SHOP, tools=["Read"], model="m"),
        droid_event("message", role="user", id="m1", text=ASKED, timestamp=1780308000000),
        droid_event("tool_call", id="c1", toolName="Read", parameters={}, timestamp=1780308001000),
        droid_event("tool_result", id="r1", toolId="c1", isError=False, value="FROM python"),
        droid_event("message", role="assistant", id="m2", text=ANSWERED),
        droid_event("completion", finalText=ANSWERED, numTurns=1),
    )
    assert detected("x.jsonl", stream).format is factory_droid
    found = read(factory_droid, stream)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.conversations == ["factory_droid:s1"]
    assert [turn.content for turn in found.turns if turn.role == "tool"] == ["FROM python"]


def test_droid_tells_reminders_tools_and_unknown_records_apart() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Execute", "input": {}}
    reminder = "<system-reminder>\nToday is Monday.\n</system-reminder>\n"
    history = lines(
        {"type": "session_start", "id": "d2", "title": "t"},
        droid_message(1, "user", *text(reminder + ASKED)),
        droid_message(2, "assistant", *text(ANSWERED), call),
        droid_message(3, "user", {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}),
        {"type": "todo_state", "todos": []},
        {"type": "hologram"},
    )
    found = read(factory_droid, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "Execute", "id": "c1"}]
    assert [turn.kind for turn in found.turns] == ["typed", "harness", "typed", "tool_result"]
    assert found.unknown == ["hologram"]


def bubble(**fields: object) -> dict[str, object]:
    return {"record": "bubble", "value": fields}


def test_cursors_store_tells_thoughts_tools_and_unknown_bubbles_apart() -> None:
    tool = {"name": "read_file", "toolCallId": "t1", "result": "FROM python"}
    history = lines(
        {"record": "composer", "value": {"composerId": "c2"}},
        bubble(bubbleId="1", type=1, text=ASKED, timingInfo={"clientStartTime": 1780308000000}),
        bubble(bubbleId="2", type=2, text="", thinking={"text": "Layers?"}),
        bubble(bubbleId="3", type=2, text="", toolFormerData=tool),
        bubble(bubbleId="4", type=2, text=ANSWERED, modelInfo={"modelName": "m1"}),
        bubble(bubbleId="5", type=9, text="?"),
        {"record": "bubble", "value": "{damaged"},
        {"record": "hologram"},
    )
    found = read(cursor_store, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert [turn.kind for turn in found.turns] == ["typed", "thinking", "tool_result", "typed"]
    assert found.kept[1].metadata["model"] == "m1"
    assert found.unknown == ["bubble of type 9", "bubble without JSON", "hologram without JSON"]


def antigravity_step(number: int, source: str, kind: str, content: str, **more: object) -> dict[str, object]:
    about = {"step_index": number, "source": source, "type": kind, "status": "DONE", "created_at": at(number)}
    return {**about, "content": content, **more}


def test_antigravity_tells_what_it_adds_and_what_its_tools_did_apart() -> None:
    call = {"name": "view_file", "args": {}}
    request = f"<USER_REQUEST>\n{ASKED}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nIt is noon.\n</ADDITIONAL_METADATA>"
    history = lines(
        antigravity_step(0, "USER_EXPLICIT", "USER_INPUT", request),
        antigravity_step(1, "SYSTEM", "CONVERSATION_HISTORY", "older"),
        antigravity_step(2, "MODEL", "PLANNER_RESPONSE", ANSWERED, tool_calls=[call]),
        antigravity_step(3, "MODEL", "VIEW_FILE", "FROM python"),
        antigravity_step(4, "SYSTEM", "SYSTEM_MESSAGE", "checkpointed"),
        antigravity_step(5, "WIZARD", "HOLOGRAM", "?"),
    )
    found = read(antigravity, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert [turn.kind for turn in found.turns] == ["typed", "harness", "typed", "tool_result", "harness"]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "view_file"}]
    assert found.unknown == ["HOLOGRAM of WIZARD"]


def test_kimi_tells_thoughts_calls_results_and_unknown_roles_apart() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "Shell", "arguments": "{}"}}
    thought = {"type": "think", "think": "Layers?"}
    history = lines(
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [thought, *text(ANSWERED)], "tool_calls": [call]},
        {"role": "tool", "content": text("ok"), "tool_call_id": "c1"},
        {"role": "narrator", "content": "?"},
    )
    found = read(kimi_cli, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["Layers?"]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "Shell", "id": "c1"}]
    assert found.unknown == ["role narrator"]


def test_jan_is_known_by_its_content_and_what_is_no_message_is_counted() -> None:
    (history,) = AGENTS["jan"].values()
    assert detected("x.jsonl", history).format is jan
    found = read(jan, history + lines({"object": "thread.run", "id": "r1"}))
    assert found.said == list(TALK)
    assert found.unknown == ["thread.run"]
