"""Histories of any length, one conversation each, that are written while they are read: nobody holds them whole."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, final

from attrs import frozen

BLOCK_BYTES: Final = 1 << 18
TEXT: Final = (
    'The retry waits 2**n seconds, then gives up. 重试等待二的幂秒，然后放弃；日志在这里。 "quoted"\n' * 10
)
MINUTE: Final = "2025-06-01T10:{0:02d}:{1:02d}.000Z"


@final
@frozen
class Large:
    """A history: what stands before the turns, a turn by its number, what stands between and after."""

    name: str
    turn: Callable[[int], str]
    before: str = ""
    between: str = "\n"
    after: str = "\n"

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield at least *size* bytes of it."""
        held = [self.before.encode()]
        length = written = 0
        for number in count():
            held += [self.between.encode() if number else b"", self.turn(number).encode()]
            length += len(held[-1])
            if length >= BLOCK_BYTES:
                yield b"".join(held)
                written += length
                held, length = [], 0
                if written >= size:
                    break
        yield self.after.encode()


@final
@frozen
class LargeReader:
    """A ``HistoryReader`` of one."""

    large: Large
    size: int

    @property
    def path(self) -> str:
        return self.large.name

    @property
    def name(self) -> str:
        return self.large.name

    def blocks(self) -> Iterator[bytes]:
        return self.large.blocks(self.size)

    def sibling(self, relative: str, /) -> None:
        return None

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        return ()


def _said(number: int) -> str:
    return f"{number}: {TEXT}"


def _moment(number: int) -> str:
    return MINUTE.format(number // 60 % 60, number % 60)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _claude_code(number: int) -> str:
    role = ("user", "assistant")[number % 2]
    message = {"role": role, "content": [{"type": "text", "text": _said(number)}]}
    if number % 2:
        message |= {"id": f"msg_{number}", "model": "claude-sonnet-4"}
    return _json(
        {
            "type": role,
            "uuid": f"uuid-{number:08d}-0000-0000",
            "parentUuid": f"uuid-{number - 1:08d}-0000-0000" if number else None,
            "sessionId": "5d3c",
            "isSidechain": False,
            "cwd": "/home/lin/bot",
            "version": "2.1.0",
            "timestamp": _moment(number),
            "message": message,
        }
    )


def _chatgpt(number: int) -> str:
    message = {
        "id": f"n{number}",
        "author": {"role": ("user", "assistant")[number % 2]},
        "create_time": 1_750_000_000.5 + number,
        "content": {"content_type": "text", "parts": [_said(number)]},
        "metadata": {},
    }
    node = {
        "id": f"n{number}",
        "message": message,
        "parent": f"n{number - 1}" if number else None,
        "children": [f"n{number + 1}"],
    }
    return f'"n{number}": {_json(node)}'


def _openwebui(number: int) -> str:
    node = {
        "id": f"n{number}",
        "parentId": f"n{number - 1}" if number else None,
        "childrenIds": [f"n{number + 1}"],
        "role": ("user", "assistant")[number % 2],
        "content": _said(number),
        "timestamp": 1_750_000_000 + number,
    }
    return f'"n{number}": {_json(node)}'


def _librechat(number: int) -> str:
    return _json(
        {
            "messageId": f"n{number}",
            "conversationId": "c1",
            "parentMessageId": f"n{number - 1}" if number else None,
            "sender": "User",
            "isCreatedByUser": number % 2 == 0,
            "text": _said(number),
            "createdAt": _moment(number),
        }
    )


def _gemini_line(number: int) -> str:
    return _json(
        {
            "id": f"n{number}",
            "timestamp": _moment(number),
            "type": ("user", "gemini")[number % 2],
            "content": _said(number),
        }
    )


def _codex(number: int) -> str:
    role, kind = (("user", "input_text"), ("assistant", "output_text"))[number % 2]
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": _said(number)}]}
    return _json({"timestamp": _moment(number), "type": "response_item", "payload": payload})


def _copilot_cli(number: int) -> str:
    kind = ("user.message", "assistant.message")[number % 2]
    return _json(
        {
            "type": kind,
            "data": {"content": _said(number)},
            "id": f"e{number}",
            "timestamp": _moment(number),
            "parentId": None,
        }
    )


def _copilot_chat(number: int) -> str:
    return _json(
        {
            "requestId": f"request_{number}",
            "message": {"text": _said(number), "parts": []},
            "response": [{"value": _said(number)}],
            "timestamp": 1_750_000_000_000 + number,
            "modelId": "copilot/gpt-5",
            "isCanceled": False,
        }
    )


def _message(role: Sequence[str], **keys: Any) -> Callable[[int], str]:
    return lambda number: _json({"role": role[number % len(role)], "content": _said(number), **keys})


def _talk(number: int) -> str:
    return _json({"speaker": ("Mei", "Jonas")[number % 2], "dia_id": f"D1:{number}", "text": _said(number)})


_PEOPLE: Final = ("user", "assistant")
_CODEX_HEAD: Final = _json(
    {
        "timestamp": MINUTE.format(0, 0),
        "type": "session_meta",
        "payload": {
            "id": "0199",
            "timestamp": MINUTE.format(0, 0),
            "cwd": "/home/lin/bot",
            "originator": "codex_cli_rs",
            "cli_version": "0.50.0",
        },
    }
)

LARGE: Final[Mapping[str, Large]] = {
    "claude_code": Large("5d3c.jsonl", _claude_code),
    "claude_prompts": Large(
        "history.jsonl",
        lambda number: _json(
            {
                "display": _said(number),
                "pastedContents": {},
                "timestamp": 1_750_000_000_000 + number,
                "project": "/p",
                "sessionId": "5d3c",
            }
        ),
    ),
    "codex_cli": Large("rollout.jsonl", _codex, before=_CODEX_HEAD + "\n"),
    "gemini_cli": Large(
        "session.jsonl",
        _gemini_line,
        before=_json({"sessionId": "s1", "projectHash": "9da8", "startTime": MINUTE.format(0, 0)}) + "\n",
    ),
    "gemini_cli, a document": Large(
        "session.json",
        _gemini_line,
        '{"sessionId": "s1", "projectHash": "9da8",\n "messages": [',
        ",\n",
        "]}",
    ),
    "copilot_cli": Large(
        "events.jsonl",
        _copilot_cli,
        before=_json(
            {
                "type": "session.start",
                "data": {"sessionId": "s1", "copilotVersion": "1"},
                "id": "e",
                "timestamp": MINUTE.format(0, 0),
                "parentId": None,
            }
        )
        + "\n",
    ),
    "cursor": Large(
        "x.jsonl",
        lambda number: _json(
            {"role": _PEOPLE[number % 2], "message": {"content": [{"type": "text", "text": _said(number)}]}}
        ),
    ),
    "chatgpt": Large(
        "conversations.json",
        _chatgpt,
        '[{"title": "t", "create_time": 1.5, "mapping": {',
        ",\n",
        '}, "id": "c1"}]',
    ),
    "claude_ai": Large(
        "conversations.json",
        lambda number: _json(
            {
                "uuid": f"m{number}",
                "sender": ("human", "assistant")[number % 2],
                "text": _said(number),
                "created_at": _moment(number),
                "content": [{"type": "text", "text": _said(number)}],
                "attachments": [],
                "files": [],
            }
        ),
        '[{"uuid": "c1", "name": "t", "created_at": "2025-06-01T10:00:00Z", "account": {"uuid": "a"}, "chat_messages": [',
        ",\n",
        "]}]",
    ),
    "openwebui": Large(
        "chat.json",
        _openwebui,
        '{"id": "c1", "title": "t", "history": {"messages": {',
        ",\n",
        '}, "currentId": null}}',
    ),
    "librechat": Large(
        "chat.json",
        _librechat,
        '{"conversationId": "c1", "title": "t", "recursive": false, "messages": [',
        ",\n",
        "]}",
    ),
    "copilot_chat": Large(
        "chat.json",
        _copilot_chat,
        '{"requesterUsername": "lin", "responderUsername": "GitHub Copilot", "requests": [',
        ",\n",
        "]}",
    ),
    "continue": Large(
        "session.json",
        lambda number: _json(
            {"message": {"role": _PEOPLE[number % 2], "content": _said(number)}, "contextItems": []}
        ),
        '{"sessionId": "s1", "title": "t", "workspaceDirectory": "/p", "history": [',
        ",\n",
        "]}",
    ),
    "cline": Large(
        "ui_messages.json",
        lambda number: _json(
            {
                "ts": 1_750_000_000_000 + number,
                "type": "say",
                "say": ("user_feedback", "text")[number % 2],
                "text": _said(number),
            }
        ),
        '[{"ts": 1750000000000, "type": "say", "say": "text", "text": "task"},\n',
        ",\n",
        "]",
    ),
    "cline, a session": Large(
        "s1.messages.json",
        lambda number: _json(
            {
                "id": f"m{number}",
                "role": _PEOPLE[number % 2],
                "content": [{"type": "text", "text": _said(number)}],
                "ts": 1_750_000_000_000 + number,
            }
        ),
        '{"version": 1, "agent": "lead", "sessionId": "s1", "messages": [',
        ",\n",
        "]}",
    ),
    "aider": Large(
        ".aider.chat.history.md",
        lambda number: "#### " + _said(number).strip().replace("\n", "  \n#### ") + "\n\n" + _said(number),
        before="\n# aider chat started at 2025-06-01 10:00:00\n\n",
    ),
    "specstory": Large(
        "x.md",
        lambda number: (
            f"_**{('User', 'Agent (gpt-5 2025-06-01 10:00:00Z)')[number % 2]}**_\n\n{_said(number)}\n---\n"
        ),
        before="<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# t\n\n<!-- Cursor IDE Session 7648a3a8-cec0-45cc-a87c-6ad5a39677a2 (2025-06-30 12:46:48Z) -->\n\n",
    ),
    "markdown": Large("x.md", lambda number: f"## {('User', 'Assistant')[number % 2]}\n\n{_said(number)}"),
    "openai_chat": Large(
        "x.jsonl",
        lambda number: _json({"messages": [{"role": role, "content": _said(number)} for role in _PEOPLE]}),
    ),
    "sharegpt": Large(
        "x.json",
        lambda number: _json({"from": ("human", "gpt")[number % 2], "value": _said(number)}),
        '[{"id": "1", "conversations": [',
        ",\n",
        "]}]",
    ),
    "langchain": Large(
        "x.json",
        lambda number: _json(
            {
                "type": ("human", "ai")[number % 2],
                "data": {"content": _said(number), "additional_kwargs": {}, "type": "human"},
            }
        ),
        "[",
        ",\n",
        "]",
    ),
    "locomo": Large(
        "x.json",
        _talk,
        '{"sample_id": "c1", "conversation": {"speaker_a": "Mei", "speaker_b": "Jonas", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [',
        ",\n",
        "]}}",
    ),
    "role_list": Large("x.json", _message(_PEOPLE), "[", ",\n", "]"),
    "role_list, lines": Large("x.jsonl", _message(_PEOPLE)),
}
"""By the format, and where it has several shapes, which one."""
