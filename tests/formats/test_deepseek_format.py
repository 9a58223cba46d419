"""DeepSeek's export: a tree of nodes with fragments."""

from typing import Any

from chatmemory.pastchats.formats.web.deepseek import deepseek
from tests.formats.agent_histories import ANSWERED, ASKED, CLOSED, TALK, THANKED
from tests.formats.exported import claim, parsed, said, tagged, turns, unknown


def node(native_id: str, parent: str | None, *fragments: tuple[str, str], **message: Any) -> dict[str, Any]:
    held = [{"type": kind, "content": content} for kind, content in fragments]
    about = {"model": "deepseek-chat", "inserted_at": f"2026-06-01T10:00:0{native_id}.000+08:00", "files": []}
    return {
        "id": native_id,
        "parent": parent,
        "children": [],
        "message": {**about, "fragments": held, **message},
    }


def export(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    root = {"root": {"id": "root", "parent": None, "children": ["1"], "message": None}}
    mapping = {**root, **{one["id"]: one for one in nodes}}
    about = {"id": "c1", "title": "Nightly build", "inserted_at": "2026-06-01T10:00:00.000+08:00"}
    return [{**about, "mapping": mapping}]


def test_a_conversation_says_who_said_what_and_when() -> None:
    document = export(
        node("1", "root", ("REQUEST", ASKED)),
        node("2", "1", ("THINK", "Layers?"), ("RESPONSE", ANSWERED)),
        node("3", "2", ("REQUEST", THANKED)),
        node("4", "3", ("RESPONSE", CLOSED)),
    )
    claimed = claim(deepseek, document)
    assert claimed is not None
    assert claimed.confidence > 90
    found = parsed(deepseek, document)
    assert said(found) == list(TALK)
    first = turns(found)[0]
    assert (first.conversation_id, first.native_id) == ("deepseek:c1", "1")
    assert first.timestamp is not None
    assert turns(found)[1].metadata == {"title": "Nightly build", "model": "deepseek-chat"}
    assert ("thinking", "Layers?") in tagged(found)


def test_files_are_attached_and_unknown_fragments_are_counted() -> None:
    document = export(
        node("1", "root", ("REQUEST", ASKED), files=[{"file_name": "a.txt", "content": "FROM python"}]),
        node("2", "1", ("HOLOGRAM", "?")),
        node("3", "2", ("SEARCH", ""), ("RESPONSE", ANSWERED)),
    )
    found = parsed(deepseek, document)
    assert said(found) == [("user", ASKED), ("assistant", ANSWERED)]
    assert ("harness", "FROM python") in tagged(found)
    assert unknown(found) == ["fragment HOLOGRAM"]
