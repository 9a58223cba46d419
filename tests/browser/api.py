"""``Api``: what a program tells the server while somebody looks at its page."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final
from urllib.parse import quote

import httpx

MOST: Final = 200
"""Of anything in one request."""


@final
class Api:
    """Writes what a test needs, and reads what the page has done."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    @property
    def url(self) -> str:
        return str(self.client.base_url)

    def say(self, conversation_id: str, *messages: Mapping[str, object]) -> None:
        for start in range(0, len(messages), MOST):
            body = {"messages": messages[start : start + MOST]}
            self._done("POST", f"{_conversation(conversation_id)}/messages", body)

    def fork(self, conversation_id: str, new_id: str, *, at: str | None = None) -> None:
        """Begin the branch *new_id* of a conversation, behind its message *at* or at its end."""
        self._done("POST", f"{_conversation(conversation_id)}/fork", {"newId": new_id, "at": at})

    def messages(self, conversation_id: str) -> Any:
        return self._done("GET", f"{_conversation(conversation_id)}/messages?view=full")["messages"]

    def conversations(self) -> Any:
        """Return the conversations with their openings, last changed first."""
        return self._done("GET", f"/conversations?limit={MOST}")["conversations"]

    def clear(self, conversation_id: str) -> None:
        self._done("DELETE", f"{_conversation(conversation_id)}/messages")

    def remember(self, *memories: Mapping[str, object], app: str = "") -> Sequence[str]:
        where = f"/memories?app={quote(app)}" if app else "/memories"
        report = self._done("POST", where, {"memories": memories, "dedup": "none"})
        return [outcome["id"] for outcome in report["outcomes"]]

    def memories(self, **narrowed: str) -> Any:
        return self._listed("/memories", narrowed)

    def memory(self, memory_id: str) -> Any:
        answer = self.client.get(_memory(memory_id))
        return None if answer.status_code == 404 else answer.json()

    def put_value(self, key: str, value: object, *, app: str = "") -> None:
        where = f"?app={quote(app)}" if app else ""
        self._done("PUT", f"/values/{quote(key, safe='')}{where}", {"value": value})

    def values(self, **narrowed: str) -> Any:
        return self._listed("/values", narrowed)

    def correct(self, memory_id: str, **changes: object) -> None:
        self._done("PATCH", _memory(memory_id), changes)

    def extract(self, content: str, role: str = "user") -> Any:
        return self._done("POST", "/memory/extract", {"content": content, "role": role})

    def recall(self, query: str) -> Sequence[Mapping[str, Any]]:
        return [hit["memory"] for hit in self._done("POST", "/memories/recall", {"query": query})["hits"]]

    def empty(self) -> None:
        while listed := self.conversations():
            for entry in listed:
                self.clear(entry["conversation"]["conversationId"])
        while found := self.memories():
            for memory in found:
                self._done("DELETE", _memory(memory["id"]))

    def _listed(self, path: str, narrowed: Mapping[str, str]) -> Any:
        answer = self.client.get(path, params={"limit": str(MOST), **narrowed}).raise_for_status()
        return answer.json()["memories"]

    def _done(self, method: str, path: str, body: object = None) -> Any:
        answer = self.client.request(method, path, json=body) if body else self.client.request(method, path)
        assert answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json()


def _conversation(conversation_id: str) -> str:
    # httpx, too, takes dots for a folder.
    segment = f"={conversation_id}" if conversation_id in {".", ".."} else conversation_id
    return f"/conversations/{quote(segment, safe='')}"


def _memory(memory_id: str) -> str:
    return f"/memories/{quote(memory_id, safe='')}"
