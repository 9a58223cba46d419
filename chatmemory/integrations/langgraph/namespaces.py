"""Which namespaces a listing of LangGraph names: ``listed``, out of those below its ``literal_prefix``."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.store.base import ListNamespacesOp, MatchCondition

from chatmemory.integrations.langgraph.values import labels_of, namespace_of
from chatmemory.items.item_repository import Labels


def literal_prefix(op: ListNamespacesOp) -> Labels:
    """Return labels with which every namespace that is asked for begins.

    Raises:
        ValueError: there is no such way to match, or no such label.
    """
    for condition in op.match_conditions or ():
        if condition.match_type not in {"prefix", "suffix"}:
            msg = f"a namespace is matched by prefix or suffix, not by {condition.match_type!r}"
            raise ValueError(msg)
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix" and "*" not in condition.path:
            return labels_of(condition.path)
    return labels_of(())


def listed(op: ListNamespacesOp, found: Sequence[Labels]) -> list[tuple[str, ...]]:
    """Return those that match of the namespaces that were *found*, cut to their depth, in order."""
    namespaces = map(namespace_of, found)
    asked = op.match_conditions or ()
    matching = [each for each in namespaces if all(_matches(each, condition) for condition in asked)]
    cut = sorted({each[: op.max_depth] for each in matching})
    return cut[op.offset : op.offset + op.limit]


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    length = len(condition.path)
    if length > len(namespace):
        return False
    part = namespace[:length] if condition.match_type == "prefix" else namespace[len(namespace) - length :]
    return all(wanted in ("*", label) for label, wanted in zip(part, condition.path, strict=True))
