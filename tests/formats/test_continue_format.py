"""Continue's sessions: one file each, beside an index that is none."""

from typing import Any

from chatmemory.pastchats.formats.tools.continue_dev import continue_dev
from tests.formats.exported import certainty, is_beside, issues, parsed, said, tagged, turns, unknown


def item(role: str, content: Any, *context: Any, **message: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content, **message}, "contextItems": list(context)}


def session(*items: Any, **fields: Any) -> dict[str, Any]:
    about = {"title": "格式化", "workspaceDirectory": "/home/mei/app", "sessionId": "s-1"}
    return {"history": list(items), **about, **fields}


def test_a_session_is_read_though_it_names_itself_at_the_end() -> None:
    asked = item("user", [{"type": "text", "text": "跑一下 black"}], id="m1")
    found = parsed(continue_dev, session(asked, item("assistant", "好的")))
    assert said(found) == [("user", "跑一下 black"), ("assistant", "好的")]
    first = turns(found)[0]
    assert (first.conversation_id, first.native_id, first.project) == ("continue:s-1", "m1", "/home/mei/app")
    assert first.timestamp is None
    assert first.metadata == {"title": "格式化"}


def test_thinking_tools_and_context_are_tagged() -> None:
    context = {"name": "main.py", "description": "src/main.py", "content": "print(1)"}
    call = {"id": "c1", "function": {"name": "read_file", "arguments": "{}"}}
    history = session(
        item("user", "看看", context),
        item("thinking", "想一想"),
        item("assistant", "我读一下", toolCalls=[call]),
        item("tool", "print(1)"),
        item("narrator", "?"),
    )
    found = parsed(continue_dev, history)
    assert said(found) == [("user", "看看"), ("assistant", "我读一下")]
    assert tagged(found) == [("harness", "print(1)"), ("thinking", "想一想"), ("tool_result", "print(1)")]
    assert turns(found)[1].metadata["tool_calls"] == [{"name": "read_file", "id": "c1"}]
    assert unknown(found) == ["role narrator"]


def test_two_forks_that_share_their_turns_stay_two_conversations() -> None:
    items = [item("user", "同一个问题"), item("assistant", "同一个答案")]
    for native_id in ("s-1", "s-2"):
        found = turns(parsed(continue_dev, session(*items, sessionId=native_id)))
        assert {turn.conversation_id for turn in found} == {f"continue:{native_id}"}


def test_a_session_is_claimed_a_bare_history_is_not_certain_and_the_index_is_no_transcript() -> None:
    bare = {"history": [{"message": {"role": "user", "content": "hi"}}]}
    assert 0 < certainty(continue_dev, bare) < 90 <= certainty(continue_dev, session(item("user", "hi")))
    assert issues(parsed(continue_dev, session())) == []
    index = {"sessionId": "s-1", "title": "t", "dateCreated": "1734580436896", "workspaceDirectory": "/x"}
    assert is_beside(continue_dev, [index])


def test_a_folder_that_is_named_as_a_uri_is_a_path() -> None:
    for uri, folder in (("file:///home/mei/my%20app", "/home/mei/my app"), ("http://[::1", "http://[::1")):
        (turn,) = turns(parsed(continue_dev, session(item("user", "在哪？"), workspaceDirectory=uri)))
        assert turn.project == folder
