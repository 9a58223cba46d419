"""The current path through messages that form a tree: every edit and every retry of a chat leaves a branch behind.

Links to parents alone are followed.  Lists of children are redundant, and exports exist that leave them out.
"""

from collections.abc import Callable, Mapping
from typing import Final, final

from attrs import frozen

from chatmemory.input.json_value import JsonObject

NO_PARENTS: Final = frozenset(
    {"", "00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000000"}
)
"""What tools write where a message has no parent."""


@final
@frozen
class Node:
    """A message, as far as the path needs it.

    Attributes:
        parent: the id of the message before it; None for none.
        at: when it was written, in unix seconds; 0 where nobody says.
        turns: how many turns it will yield.
    """

    parent: str | None
    at: float = 0.0
    turns: int = 0


def parent_of(value: object) -> str | None:
    """Return the id in a field that names the parent."""
    return value if isinstance(value, str) and value not in NO_PARENTS else None


def linked_by(name: str) -> Callable[[JsonObject, str | None], str | None]:
    """Return how to find the message before one: by its field *name*; a message without it follows the one before it."""

    def parent(message: JsonObject, before: str | None) -> str | None:
        return parent_of(message[name]) if name in message else before

    return parent


def latest_leaf(nodes: Mapping[str, Node]) -> str | None:
    """Return the message that was written last among those that nobody answered; of equals the last in the file.

    Where links lead in circles there is no such message: then the last one of all.
    """
    answered = {node.parent for node in nodes.values()}
    leaves = [native_id for native_id in nodes if native_id not in answered] or list(nodes)
    return max(reversed(leaves), key=lambda native_id: nodes[native_id].at, default=None)


def last_child_leaf(nodes: Mapping[str, Node]) -> str | None:
    """Return where one gets by taking the last of the answers each time, beginning with the last beginning."""
    last: dict[str | None, str] = {}
    for native_id, node in nodes.items():
        last[node.parent if node.parent in nodes else None] = native_id
    at, seen = last.get(None), set[str]()
    while at is not None and at in last and at not in seen:
        seen.add(at)
        at = last[at]
    return at or latest_leaf(nodes)


def current_path(nodes: Mapping[str, Node], leaf: str | None) -> list[str]:
    """Return the messages from the beginning to *leaf*, or to the latest leaf where that one does not exist.

    Where a parent is missing because its record is damaged, the path goes on with what was written last before the
    gap, so that a damaged message costs no other one.
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
    """Return the leaf before *after* in the file and in time; none that begins behind the same *gap*: a sibling."""
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
