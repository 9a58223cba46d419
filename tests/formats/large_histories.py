"""A history of each format, by its name, in the shape that its tool writes: as long as a benchmark asks for, or short."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.formats.large_history import PEOPLE, Large, as_json, at, lines, text

SECONDS: Final = 1_780_308_000  # of the first turn
MILLISECONDS: Final = 1_780_308_000_000


def _by_line(turn: Callable[[int, str, str], Mapping[str, Any] | str], *before: Mapping[str, Any]) -> Large:
    return Large("x.jsonl", turn, lines(*before))


def _document(
    before: str, turn: Callable[[int, str, str], Mapping[str, Any] | str], after: str, name: str = "x.json"
) -> Large:
    return Large(name, turn, before, ",\n", after)


def _id(number: int, form: str = "n{}") -> str | None:
    return form.format(number) if number >= 0 else None


def _node(number: int, **more: Any) -> str:
    """Write a member of a tree: its name and what it holds."""
    return f'"n{number}": ' + as_json({"id": f"n{number}", **more})


def _claude_code(number: int, role: str, words: str) -> Mapping[str, Any]:
    form = "uuid-{:08d}-0000-0000"
    made = {"id": f"msg_{number}", "model": "claude-sonnet-4"} if role == "assistant" else {}
    links = {"uuid": _id(number, form), "parentUuid": _id(number - 1, form), "timestamp": at(number)}
    about = {"sessionId": "5d3c", "isSidechain": False, "cwd": "/home/lin/bot", "version": "2.1.0"}
    return {"type": role, **links, **about, "message": {"role": role, "content": text(words), **made}}


def _qwen_code(number: int, role: str, words: str) -> Mapping[str, Any]:
    form = "{:08d}-aaaa-4bbb-8ccc-000000000000"
    message = {"role": "user" if role == "user" else "model", "parts": [{"text": words}]}
    links = {"uuid": _id(number, form), "parentUuid": _id(number - 1, form), "timestamp": at(number)}
    about = {"sessionId": "q1", "cwd": SHOP, "version": "0.9.0", "gitBranch": "main"}
    return {"type": role, **links, **about, "message": message}


def _chatgpt(number: int, role: str, words: str) -> str:
    about = {"id": f"n{number}", "author": {"role": role}, "create_time": SECONDS + number + 0.5}
    message = {**about, "content": {"content_type": "text", "parts": [words]}, "metadata": {}}
    return _node(number, message=message, parent=_id(number - 1), children=[_id(number + 1)])


def _deepseek(number: int, role: str, words: str) -> str:
    fragment = {"type": "REQUEST" if role == "user" else "RESPONSE", "content": words}
    message = {"files": [], "model": "deepseek-chat", "inserted_at": at(number), "fragments": [fragment]}
    return _node(number, message=message, parent=_id(number - 1), children=[_id(number + 1)])


def _openwebui(number: int, role: str, words: str) -> str:
    links = {"parentId": _id(number - 1), "childrenIds": [_id(number + 1)]}
    return _node(number, **links, role=role, content=words, timestamp=SECONDS + number)


def _librechat(number: int, role: str, words: str) -> Mapping[str, Any]:
    ids = {"messageId": _id(number), "conversationId": "c1", "parentMessageId": _id(number - 1)}
    said = {"sender": "User", "isCreatedByUser": role == "user", "text": words, "createdAt": at(number)}
    return {**ids, **said}


def _claude_ai(number: int, role: str, words: str) -> Mapping[str, Any]:
    said = {"sender": "human" if role == "user" else role, "text": words, "content": text(words)}
    return {"uuid": f"m{number}", **said, "created_at": at(number), "attachments": [], "files": []}


def _codex_cli(number: int, role: str, words: str) -> Mapping[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}
    return {"timestamp": at(number), "type": "response_item", "payload": payload}


def _copilot_cli(number: int, role: str, words: str) -> Mapping[str, Any]:
    data = {"messageId": f"m{number}", "content": words, "attachments": [], "toolRequests": []}
    links = {"id": f"e{number}", "timestamp": at(number), "parentId": _id(number - 1, "e{}")}
    return {"type": f"{role}.message", "data": data, **links}


def _copilot_chat(number: int, _: str, words: str) -> Mapping[str, Any]:
    said = {"message": {"text": words, "parts": []}, "response": [{"value": words}]}
    about = {"requestId": f"request_{number}", "timestamp": MILLISECONDS + number}
    return {**about, **said, "modelId": "copilot/gpt-5", "isCanceled": False}


def _gemini_cli(number: int, role: str, words: str) -> Mapping[str, Any]:
    kind = "user" if role == "user" else "gemini"
    return {"id": f"n{number}", "timestamp": at(number), "type": kind, "content": words}


def _gemini_takeout(number: int, _: str, words: str) -> Mapping[str, Any]:
    about = {"header": "Gemini Apps", "title": f"Prompted {words}", "time": at(number)}
    return {**about, "products": ["Gemini Apps"], "safeHtmlItem": [{"html": f"<p>{words}</p>"}]}


def _antigravity(number: int, role: str, words: str) -> Mapping[str, Any]:
    of_user = ("USER_EXPLICIT", "USER_INPUT", f"<USER_REQUEST>\n{words}\n</USER_REQUEST>")
    source, kind, content = of_user if role == "user" else ("MODEL", "PLANNER_RESPONSE", words)
    about = {"step_index": number, "source": source, "type": kind, "status": "DONE"}
    return {**about, "created_at": at(number), "content": content}


def _cursor_store(number: int, role: str, words: str) -> Mapping[str, Any]:
    value = {"bubbleId": f"b{number}", "type": 1 if role == "user" else 2, "text": words}
    about = {"createdAt": at(number), "workspaceUris": ["file:///home/lin/shop"]}
    return {"record": "bubble", "key": f"bubbleId:c1:b{number}", "value": {**value, **about}}


def _goose(number: int, role: str, words: str) -> Mapping[str, Any]:
    ids = {"record": "message", "id": number, "message_id": f"m{number}", "session_id": "g1"}
    return {**ids, "role": role, "content_json": text(words), "created_timestamp": SECONDS + number}


def _jan(number: int, role: str, words: str) -> Mapping[str, Any]:
    content = [{"type": "text", "text": {"value": words, "annotations": []}}]
    about = {"id": f"msg_{number}", "object": "thread.message", "thread_id": "t1", "role": role}
    times = {"created_at": SECONDS + number, "completed_at": SECONDS + number}
    return {**about, "content": content, "status": "ready", **times}


def _factory_droid(number: int, role: str, words: str) -> Mapping[str, Any]:
    message = {"role": role, "content": text(words)}
    return {"type": "message", "id": f"m{number}", "timestamp": at(number), "message": message}


def _pi(number: int, role: str, words: str) -> Mapping[str, Any]:
    message = {"role": role, "content": text(words), "timestamp": MILLISECONDS + number}
    links = {"id": f"e{number}", "parentId": _id(number - 1, "e{}"), "timestamp": at(number)}
    return {"type": "message", **links, "message": message}


def _claude_prompts(number: int, _: str, words: str) -> Mapping[str, Any]:
    about = {"timestamp": MILLISECONDS + number, "project": "/home/lin/bot", "sessionId": "5d3c"}
    return {"display": words, "pastedContents": {}, **about}


def _cline(number: int, role: str, words: str) -> Mapping[str, Any]:
    say = "user_feedback" if role == "user" else "text"
    return {"ts": MILLISECONDS + number, "type": "say", "say": say, "text": words}


def _cline_session(number: int, role: str, words: str) -> Mapping[str, Any]:
    return {"id": f"m{number}", "role": role, "content": text(words), "ts": MILLISECONDS + number}


def _aider(_: int, __: str, words: str) -> str:
    return "#### " + words.strip().replace("\n", "  \n#### ") + "\n\n" + words


def _specstory(_: int, role: str, words: str) -> str:
    who = "User" if role == "user" else "Agent (gpt-5 2026-06-01 10:00:00Z)"
    return f"_**{who}**_\n\n{words}\n---\n"


def _langchain(_: int, role: str, words: str) -> Mapping[str, Any]:
    kind = "human" if role == "user" else "ai"
    return {"type": kind, "data": {"content": words, "additional_kwargs": {}, "type": kind}}


def _locomo(number: int, role: str, words: str) -> Mapping[str, Any]:
    about = {"speaker": "Mei" if role == "user" else "Jonas", "dia_id": f"D1:{number}"}
    return {**about, "text": words, "blip_caption": f"a photo of bowl {number}"}


def _continue(_: int, role: str, words: str) -> Mapping[str, Any]:
    return {"message": {"role": role, "content": words}, "contextItems": []}


def _sharegpt(_: int, role: str, words: str) -> Mapping[str, Any]:
    return {"from": "human" if role == "user" else "gpt", "value": words}


def _message(_: int, role: str, words: str) -> Mapping[str, Any]:
    return {"role": role, "content": words}


def _copilot_event(kind: str, id_: str, parent: str | None, **data: Any) -> Mapping[str, Any]:
    return {"type": kind, "data": data, "id": id_, "timestamp": at(0), "parentId": parent}


CODEX: Final = {"id": "0199", "cwd": "/home/lin/bot", "originator": "codex_cli_rs", "cli_version": "0.50.0"}
CODEX_META: Final = {"timestamp": at(0), "type": "session_meta", "payload": {**CODEX, "timestamp": at(0)}}
COPILOT: Final = {"sessionId": "0b1e", "version": 1, "producer": "copilot-agent", "copilotVersion": "0.0.350"}
COMPOSER: Final = {"composerId": "c1", "name": "Nightly build", "lastUpdatedAt": MILLISECONDS}
SITE: Final = {"cwd": "/home/lin/site", "branch": "main"}
SHOP: Final = "/home/lin/shop"
TITLED: Final = {"id": "d1", "title": "Nightly build", "owner": "lin", "cwd": SHOP}

BEFORE: Final = {
    "claude_ai": '[{"uuid": "c1", "name": "t", "created_at": "2026-06-01T10:00:00Z", "account": {"uuid": "a"}, "chat_messages": [',
    "cline": '[{"ts": 1780308000000, "type": "say", "say": "text", "text": "task"},\n',
    "cline, a session": '{"version": 1, "agent": "lead", "sessionId": "s1", "messages": [',
    "continue": '{"sessionId": "s1", "title": "t", "workspaceDirectory": "/p", "history": [',
    "copilot_chat": '{"requesterUsername": "lin", "responderUsername": "GitHub Copilot", "requests": [',
    "deepseek": '[{"id": "c1", "title": "Nightly build", "inserted_at": "2026-06-01T10:00:00.000+08:00", "mapping": {',
    "gemini_cli, a document": '{"sessionId": "s1", "projectHash": "9da8",\n "messages": [',
    "librechat": '{"conversationId": "c1", "title": "t", "recursive": false, "messages": [',
    "locomo": '{"sample_id": "c1", "conversation": {"speaker_a": "Mei", "speaker_b": "Jonas", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [',
    "openwebui": '{"id": "c1", "title": "t", "history": {"messages": {',
    "specstory": "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# t\n\n<!-- Cursor IDE Session 7648a3a8-cec0-45cc-a87c-6ad5a39677a2 (2026-06-01 10:00:00Z) -->\n\n",
}
"""What stands before the first turn, where it is long."""

LARGE: Final[Mapping[str, Large]] = {
    "aider": Large(".aider.chat.history.md", _aider, "\n# aider chat started at 2026-06-01 10:00:00\n\n"),
    "antigravity": _by_line(_antigravity),
    "chatgpt": _document('[{"title": "t", "create_time": 1.5, "mapping": {', _chatgpt, '}, "id": "c1"}]'),
    "claude_ai": _document(BEFORE["claude_ai"], _claude_ai, "]}]"),
    "claude_code": _by_line(_claude_code),
    "claude_prompts": _by_line(_claude_prompts),
    "cline": _document(BEFORE["cline"], _cline, "]", "ui_messages.json"),
    "cline, a session": _document(BEFORE["cline, a session"], _cline_session, "]}", "s1.messages.json"),
    "codex_cli": _by_line(_codex_cli, CODEX_META),
    "continue": _document(BEFORE["continue"], _continue, "]}"),
    "copilot_chat": _document(BEFORE["copilot_chat"], _copilot_chat, "]}"),
    "copilot_cli": _by_line(
        _copilot_cli,
        _copilot_event("session.start", "e", None, **COPILOT, context=SITE),
        _copilot_event("assistant.turn_start", "t", "e", turnId="0"),
    ),
    "cursor": _by_line(lambda _, role, words: {"role": role, "message": {"content": text(words)}}),
    "cursor_store": _by_line(_cursor_store, {"record": "composer", "value": COMPOSER}),
    "deepseek": _document(BEFORE["deepseek"], _deepseek, "}}]"),
    "factory_droid": _by_line(_factory_droid, {"type": "session_start", **TITLED}),
    "gemini_cli": _by_line(_gemini_cli, {"sessionId": "s1", "projectHash": "9da8", "startTime": at(0)}),
    "gemini_cli, a document": _document(BEFORE["gemini_cli, a document"], _gemini_cli, "]}"),
    "gemini_takeout": _document("[", _gemini_takeout, "]"),
    "goose": _by_line(
        _goose, {"record": "session", "id": "g1", "name": TITLED["title"], "working_dir": SHOP}
    ),
    "jan": _by_line(_jan),
    "kimi_cli": _by_line(
        lambda _, role, words: {"role": role, "content": text(words)},
        {"role": "_checkpoint", "id": 0},
        {"role": "_usage", "token_count": 1200},
    ),
    "langchain": _document("[", _langchain, "]"),
    "librechat": _document(BEFORE["librechat"], _librechat, "]}"),
    "locomo": _document(BEFORE["locomo"], _locomo, "]}}"),
    "markdown": Large("x.md", lambda _, role, words: f"## {role.title()}\n\n{words}\n", "# A talk\n\n"),
    "openai_chat": _by_line(lambda _, __, words: {"messages": [_message(0, role, words) for role in PEOPLE]}),
    "openwebui": _document(BEFORE["openwebui"], _openwebui, '}, "currentId": null}}'),
    "pi": _by_line(_pi, {"type": "session", "version": 3, "id": "p1", "timestamp": at(0), "cwd": SHOP}),
    "qwen_code": _by_line(_qwen_code),
    "role_list": _document("[", _message, "]"),
    "role_list, lines": _by_line(_message),
    "sharegpt": _document('[{"id": "1", "conversations": [', _sharegpt, "]}]"),
    "specstory": Large("x.md", _specstory, BEFORE["specstory"]),
}
"""By the format, and where it has several shapes, which one."""
