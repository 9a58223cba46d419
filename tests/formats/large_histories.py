"""A long history of each format, by its name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.formats.large_agents import LARGE_AGENTS
from tests.formats.large_history import MINUTE, PEOPLE, Large, as_json, moment, said


def _claude_code(number: int) -> str:
    role = ("user", "assistant")[number % 2]
    message = {"role": role, "content": [{"type": "text", "text": said(number)}]}
    if number % 2:
        message |= {"id": f"msg_{number}", "model": "claude-sonnet-4"}
    return as_json(
        {
            "type": role,
            "uuid": f"uuid-{number:08d}-0000-0000",
            "parentUuid": f"uuid-{number - 1:08d}-0000-0000" if number else None,
            "sessionId": "5d3c",
            "isSidechain": False,
            "cwd": "/home/lin/bot",
            "version": "2.1.0",
            "timestamp": moment(number),
            "message": message,
        }
    )


def _chatgpt(number: int) -> str:
    message = {
        "id": f"n{number}",
        "author": {"role": ("user", "assistant")[number % 2]},
        "create_time": 1_750_000_000.5 + number,
        "content": {"content_type": "text", "parts": [said(number)]},
        "metadata": {},
    }
    node = {
        "id": f"n{number}",
        "message": message,
        "parent": f"n{number - 1}" if number else None,
        "children": [f"n{number + 1}"],
    }
    return f'"n{number}": {as_json(node)}'


def _openwebui(number: int) -> str:
    node = {
        "id": f"n{number}",
        "parentId": f"n{number - 1}" if number else None,
        "childrenIds": [f"n{number + 1}"],
        "role": ("user", "assistant")[number % 2],
        "content": said(number),
        "timestamp": 1_750_000_000 + number,
    }
    return f'"n{number}": {as_json(node)}'


def _librechat(number: int) -> str:
    return as_json(
        {
            "messageId": f"n{number}",
            "conversationId": "c1",
            "parentMessageId": f"n{number - 1}" if number else None,
            "sender": "User",
            "isCreatedByUser": number % 2 == 0,
            "text": said(number),
            "createdAt": moment(number),
        }
    )


def _gemini_line(number: int) -> str:
    return as_json(
        {
            "id": f"n{number}",
            "timestamp": moment(number),
            "type": ("user", "gemini")[number % 2],
            "content": said(number),
        }
    )


def _codex(number: int) -> str:
    role, kind = (("user", "input_text"), ("assistant", "output_text"))[number % 2]
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": said(number)}]}
    return as_json({"timestamp": moment(number), "type": "response_item", "payload": payload})


def _copilot_cli(number: int) -> str:
    kind = ("user.message", "assistant.message")[number % 2]
    return as_json(
        {
            "type": kind,
            "data": {"content": said(number)},
            "id": f"e{number}",
            "timestamp": moment(number),
            "parentId": None,
        }
    )


def _copilot_chat(number: int) -> str:
    return as_json(
        {
            "requestId": f"request_{number}",
            "message": {"text": said(number), "parts": []},
            "response": [{"value": said(number)}],
            "timestamp": 1_750_000_000_000 + number,
            "modelId": "copilot/gpt-5",
            "isCanceled": False,
        }
    )


def _message(role: Sequence[str], **keys: Any) -> Callable[[int], str]:
    return lambda number: as_json({"role": role[number % len(role)], "content": said(number), **keys})


def _talk(number: int) -> str:
    return as_json({"speaker": ("Mei", "Jonas")[number % 2], "dia_id": f"D1:{number}", "text": said(number)})


_CODEX_HEAD: Final = as_json(
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
        lambda number: as_json(
            {
                "display": said(number),
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
        before=as_json({"sessionId": "s1", "projectHash": "9da8", "startTime": MINUTE.format(0, 0)}) + "\n",
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
        before=as_json(
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
        lambda number: as_json(
            {"role": PEOPLE[number % 2], "message": {"content": [{"type": "text", "text": said(number)}]}}
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
        lambda number: as_json(
            {
                "uuid": f"m{number}",
                "sender": ("human", "assistant")[number % 2],
                "text": said(number),
                "created_at": moment(number),
                "content": [{"type": "text", "text": said(number)}],
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
        lambda number: as_json(
            {"message": {"role": PEOPLE[number % 2], "content": said(number)}, "contextItems": []}
        ),
        '{"sessionId": "s1", "title": "t", "workspaceDirectory": "/p", "history": [',
        ",\n",
        "]}",
    ),
    "cline": Large(
        "ui_messages.json",
        lambda number: as_json(
            {
                "ts": 1_750_000_000_000 + number,
                "type": "say",
                "say": ("user_feedback", "text")[number % 2],
                "text": said(number),
            }
        ),
        '[{"ts": 1750000000000, "type": "say", "say": "text", "text": "task"},\n',
        ",\n",
        "]",
    ),
    "cline, a session": Large(
        "s1.messages.json",
        lambda number: as_json(
            {
                "id": f"m{number}",
                "role": PEOPLE[number % 2],
                "content": [{"type": "text", "text": said(number)}],
                "ts": 1_750_000_000_000 + number,
            }
        ),
        '{"version": 1, "agent": "lead", "sessionId": "s1", "messages": [',
        ",\n",
        "]}",
    ),
    "aider": Large(
        ".aider.chat.history.md",
        lambda number: "#### " + said(number).strip().replace("\n", "  \n#### ") + "\n\n" + said(number),
        before="\n# aider chat started at 2025-06-01 10:00:00\n\n",
    ),
    "specstory": Large(
        "x.md",
        lambda number: (
            f"_**{('User', 'Agent (gpt-5 2025-06-01 10:00:00Z)')[number % 2]}**_\n\n{said(number)}\n---\n"
        ),
        before="<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# t\n\n<!-- Cursor IDE Session 7648a3a8-cec0-45cc-a87c-6ad5a39677a2 (2025-06-30 12:46:48Z) -->\n\n",
    ),
    "markdown": Large("x.md", lambda number: f"## {('User', 'Assistant')[number % 2]}\n\n{said(number)}"),
    "openai_chat": Large(
        "x.jsonl",
        lambda number: as_json({"messages": [{"role": role, "content": said(number)} for role in PEOPLE]}),
    ),
    "sharegpt": Large(
        "x.json",
        lambda number: as_json({"from": ("human", "gpt")[number % 2], "value": said(number)}),
        '[{"id": "1", "conversations": [',
        ",\n",
        "]}]",
    ),
    "langchain": Large(
        "x.json",
        lambda number: as_json(
            {
                "type": ("human", "ai")[number % 2],
                "data": {"content": said(number), "additional_kwargs": {}, "type": "human"},
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
    "role_list": Large("x.json", _message(PEOPLE), "[", ",\n", "]"),
    "role_list, lines": Large("x.jsonl", _message(PEOPLE)),
    **LARGE_AGENTS,
}
"""By the format, and where it has several shapes, which one."""
