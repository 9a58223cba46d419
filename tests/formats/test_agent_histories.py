"""What all histories of agents say: who said what, where and when."""

from typing import Any

from tests.for_each import for_each
from tests.formats.histories import formats
from tests.formats.small_histories import AGENTS, TALK
from tests.read_turns import read

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
