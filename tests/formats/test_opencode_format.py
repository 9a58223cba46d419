"""opencode's sessions: three levels of files that are joined, and the export that is one."""

from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.tools.opencode import opencode
from tests.formats.large_history import lines
from tests.formats.read_turns import certainty, is_beside, parsed, read

STORE = "/home/mei/.local/share/opencode/storage"
SESSION_PATH = f"{STORE}/session/p1/ses_1.json"
ABOUT = {"id": "ses_1", "version": "1.1.0", "projectID": "p1", "directory": "/home/mei/app"}
TIMES = {"created": 1730000000000, "updated": 1730000009000}
SESSION: dict[str, Any] = {**ABOUT, "title": "修复重试", "time": TIMES}


def info(native_id: str, role: str, at: int, **fields: Any) -> dict[str, Any]:
    created = {"created": 1730000000000 + at}
    return {"id": native_id, "sessionID": "ses_1", "role": role, "time": created, **fields}


def part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": "prt", "sessionID": "ses_1", "messageID": "msg", "type": kind, **fields}


MESSAGES: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    (
        # Its name sorts last; what counts is when it was written.
        info("msg_9", "user", 1),
        [part("text", text="加上重试"), part("text", text="Called the Read tool", synthetic=True)],
    ),
    (
        info("msg_2", "assistant", 2, modelID="claude-sonnet-4"),
        [
            part("step-start"),
            part("reasoning", text="想一想"),
            part("tool", tool="bash", callID="c1", state={"status": "completed", "output": "5 passed"}),
            part("text", text="好了"),
            part("hologram"),
        ],
    ),
    (info("msg_3", "assistant", 3, summary=True), [part("text", text="目前为止的总结")]),
    (info("msg_4", "user", 4, summary={"title": "t", "body": "旧版本的问题"}), []),
]
SAID = [("user", "加上重试"), ("assistant", "好了"), ("summary", "目前为止的总结"), ("user", "旧版本的问题")]


def store() -> dict[str, Any]:
    files: dict[str, Any] = {}
    for message, parts in MESSAGES:
        files[f"{STORE}/message/ses_1/{message['id']}.json"] = message
        for number, one in enumerate(parts):
            files[f"{STORE}/part/{message['id']}/prt_{number}.json"] = one
    return files


def test_a_session_is_joined_from_the_files_of_the_store() -> None:
    found = parsed(opencode, SESSION, SESSION_PATH, others=store())
    assert found.said == SAID
    thought, result = ("thinking", "想一想"), ("tool_result", "5 passed")
    assert found.tagged == [("harness", "Called the Read tool"), thought, result]
    assert (found.unknown, found.issue_details) == (["part hologram"], [])
    answer = found.kept[1]
    assert (answer.conversation_id, answer.native_id) == ("opencode:ses_1", "msg_2")
    assert answer.project == "/home/mei/app"
    assert answer.timestamp == datetime(2024, 10, 27, 3, 33, 20, 2000, UTC)
    about = {"title": "修复重试", "cwd": "/home/mei/app", "model": "claude-sonnet-4"}
    assert answer.metadata == {**about, "tool_calls": [{"name": "bash", "id": "c1"}]}


def test_an_export_and_the_older_layout_read_as_the_store_does() -> None:
    messages = [{"info": message, "parts": parts} for message, parts in MESSAGES]
    document = {"info": SESSION, "messages": messages}
    assert certainty(opencode, document) > 0
    found = parsed(opencode, document)
    assert found.said == SAID
    assert found.kept[0].conversation_id == "opencode:ses_1"
    old = {
        path.replace("/message/", "/session/message/").replace("/part/", "/session/part/ses_1/"): content
        for path, content in store().items()
    }
    assert parsed(opencode, SESSION, f"{STORE}/session/info/ses_1.json", others=old).said == SAID
    # A message and a part are no transcripts of their own.
    assert [path for path, content in store().items() if not is_beside(opencode, content, path)] == []
    assert certainty(opencode, SESSION, "/x.json") > 0


def test_a_damaged_part_is_an_issue_and_an_id_that_is_a_path_leads_nowhere() -> None:
    files = store()
    files[f"{STORE}/part/msg_2/prt_1.json"] = '{"type":"reaso'
    files[f"{STORE}/message/ses_1/msg_3.json"] = "[]"
    found = parsed(opencode, SESSION, SESSION_PATH, others=files)
    assert found.said == [SAID[0], SAID[1], SAID[3]]
    assert [code for code, _ in found.issue_details] == ["malformed_record", "truncated_tail"]
    message = info("msg_1", "user", 1, summary={"body": "不该读到"})
    outside = {"/home/mei/.local/share/opencode/secret/msg_1.json": message}
    assert parsed(opencode, {**SESSION, "id": "../../secret"}, SESSION_PATH, others=outside).parsed == ()
    assert parsed(opencode, SESSION, SESSION_PATH).parsed == ()


def test_the_rows_of_the_store_say_what_the_files_did() -> None:
    def row(message: str, role: str, **fields: object) -> dict[str, object]:
        info = {"role": role, "time": {"created": 1780308000000}}
        about = {"record": "part", "message_id": message, "message": info, "part_id": f"p{len(fields)}"}
        return {**about, "part": fields or None}

    about = {"id": "ses_1", "directory": "/home/lin/shop", "title": "t", "parent_id": "ses_0"}
    rows = lines(
        {"record": "session", **about},
        row("msg_1", "user", type="text", text="Why is it slow?"),
        row("msg_2", "assistant", type="reasoning", text="Layers?"),
        row("msg_2", "assistant", type="text", text="The sources are copied first."),
        row("msg_2", "assistant", type="hologram", text="?"),
        row("msg_3", "user"),
        {"record": "hologram"},
    )
    found = read(opencode, rows)
    assert found.said == [("user", "Why is it slow?"), ("assistant", "The sources are copied first.")]
    first = found.kept[0]
    assert (first.conversation_id, first.native_id) == ("opencode:ses_1", "msg_1")
    assert (first.project, first.metadata["parent_session"]) == ("/home/lin/shop", "ses_0")
    assert found.unknown == ["part hologram", "hologram"]
