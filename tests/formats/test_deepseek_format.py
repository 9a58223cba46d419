"""DeepSeek's export: a tree of nodes with fragments."""

from typing import Any

from chatmemory.pastchats.formats.web.deepseek import deepseek
from tests.formats.exported import certainty, parsed, said, tagged, turns, unknown
from tests.formats.small_histories import ANSWERED, ASKED


def node(number: int, *fragments: tuple[str, str], **message: Any) -> dict[str, Any]:
    held = [{"type": kind, "content": content} for kind, content in fragments]
    about = {"model": "deepseek-chat", "inserted_at": f"2026-06-01T10:00:0{number}.000+08:00", "files": []}
    links = {"id": str(number), "parent": str(number - 1) if number > 1 else "root", "children": []}
    return {**links, "message": {**about, "fragments": held, **message}}


def test_thoughts_files_and_unknown_fragments_are_told_apart() -> None:
    nodes = [
        {"id": "root", "parent": None, "children": ["1"], "message": None},
        node(1, ("REQUEST", ASKED), files=[{"file_name": "a.txt", "content": "FROM python"}]),
        node(2, ("HOLOGRAM", "?")),
        node(3, ("THINK", "Layers?"), ("SEARCH", ""), ("RESPONSE", ANSWERED)),
    ]
    about = {"id": "c1", "title": "Nightly build", "inserted_at": "2026-06-01T10:00:00.000+08:00"}
    document = [{**about, "mapping": {one["id"]: one for one in nodes}}]
    assert certainty(deepseek, document) > 90
    found = parsed(deepseek, document)
    assert said(found) == [("user", ASKED), ("assistant", ANSWERED)]
    assert set(tagged(found)) >= {("harness", "FROM python"), ("thinking", "Layers?")}
    assert unknown(found) == ["fragment HOLOGRAM"]
    first, answer = turns(found)
    assert (first.conversation_id, first.native_id) == ("deepseek:c1", "1")
    assert first.timestamp is not None
    assert answer.metadata == {"title": "Nightly build", "model": "deepseek-chat"}
