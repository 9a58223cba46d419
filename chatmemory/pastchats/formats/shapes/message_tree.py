"""``current_path``: the current path through a tree of messages; every edit and every retry in a chat leaves a branch.

Only links to parents are followed.  Lists of children are redundant, and some exports leave them out.
"""

from collections.abc import Callable, Mapping
from typing import Final, final

from attrs import frozen

from chatmemory.input.json_value import JsonObject

NO_PARENTS: Final = frozenset(
    {"", "00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000000"}
)
"""The values that tools write when a message has no parent."""


@final
@frozen
class Node:
    """A message, reduced to what the path needs.

    Attributes:
        parent: the id of the message before it; None for none.
        at: its time, in unix seconds; 0 when unknown.
        turns: the number of turns that it yields.
    """

    parent: str | None
    at: float = 0.0
    turns: int = 0


def parent_of(value: object) -> str | None:
    """Return the id in a field that names the parent; None for no parent."""
    return value if isinstance(value, str) and value not in NO_PARENTS else None


def linked_by(name: str) -> Callable[[JsonObject, str | None], str | None]:
    """Return a function that finds the parent of a message in its field *name*; without the field, it is the previous message."""

    def parent(message: JsonObject, before: str | None) -> str | None:
        return parent_of(message[name]) if name in message else before

    return parent


def latest_leaf(nodes: Mapping[str, Node]) -> str | None:
    """Return the latest message without an answer; among equals the last in the file.

    When links form cycles, every message has an answer: then all messages are compared.
    """
    answered = {node.parent for node in nodes.values()}
    leaves = [native_id for native_id in nodes if native_id not in answered] or list(nodes)
    return max(reversed(leaves), key=lambda native_id: nodes[native_id].at, default=None)


def last_child_leaf(nodes: Mapping[str, Node]) -> str | None:
    """Return the leaf that is reached by taking the last answer at each fork, beginning with the last root."""
    last: dict[str | None, str] = {}
    for native_id, node in nodes.items():
        last[node.parent if node.parent in nodes else None] = native_id
    at, seen = last.get(None), set[str]()
    while at is not None and at in last and at not in seen:
        seen.add(at)
        at = last[at]
    return at or latest_leaf(nodes)


def current_path(nodes: Mapping[str, Node], leaf: str | None) -> list[str]:
    """Return the messages from the root to *leaf*, or to the latest leaf when *leaf* does not exist.

    When a parent is missing because its record is damaged, the path continues with the latest leaf before the gap, so
    that a damaged message costs no other message.
    """
    path: list[str] = []
    seen: set[str] = set()
    at = leaf if leaf in nodes else latest_leaf(nodes)
    while at is not None:
        while at is not None and at in nodes and at not in seen:
            seen.add(at)
            path.append(at)
            at = nodes[at].parent
        at = _before_the_gap(nodes, path[-1], at, seen) if at is not None and at not in seen else None
    return path[::-1]


def _before_the_gap(nodes: Mapping[str, Node], after: str, gap: str, seen: set[str]) -> str | None:
    """Return the latest leaf before *after* in the file and in time, without messages below the same *gap*: they are siblings."""
    earlier: dict[str, Node] = {}
    for native_id, node in nodes.items():
        if native_id == after:
            break
        if native_id not in seen and node.at <= nodes[after].at:
            earlier[native_id] = node
    siblings = {gap}
    for native_id, node in earlier.items():
        if node.parent in siblings:
            siblings.add(native_id)
    return latest_leaf({native_id: node for native_id, node in earlier.items() if native_id not in siblings})
