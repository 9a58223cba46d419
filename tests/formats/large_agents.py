"""Long histories of agents, of stores in SQLite and of two exports."""

from collections.abc import Mapping
from typing import Any, Final

from tests.formats.large_history import PEOPLE, Large, as_json, moment, said


def _entry(number: int, **more: Any) -> dict[str, Any]:
    """Return what the records of agents have in common."""
    return {"id": f"e{number:08d}", "timestamp": moment(number), **more}


def _blocks(number: int) -> list[dict[str, str]]:
    return [{"type": "text", "text": said(number)}]


def _droid(number: int) -> str:
    message = {"role": PEOPLE[number % 2], "content": _blocks(number)}
    return as_json(_entry(number, type="message", message=message))


def _pi(number: int) -> str:
    parent = f"e{number - 1:08d}" if number else None
    message = {"role": PEOPLE[number % 2], "content": _blocks(number)}
    return as_json(_entry(number, type="message", parentId=parent, message=message))


def _qwen(number: int) -> str:
    message = {"role": "user", "parts": [{"text": said(number)}]}
    about = {
        "uuid": f"u{number:08d}",
        "parentUuid": f"u{number - 1:08d}" if number else None,
        "sessionId": "q1",
    }
    return as_json({**about, "timestamp": moment(number), "type": PEOPLE[number % 2], "message": message})


def _jan(number: int) -> str:
    content = [{"type": "text", "text": {"value": said(number), "annotations": []}}]
    about = {
        "id": f"m{number}",
        "object": "thread.message",
        "thread_id": "t1",
        "created_at": 1_750_000_000 + number,
    }
    return as_json({**about, "role": PEOPLE[number % 2], "content": content})


def _antigravity(number: int) -> str:
    source, kind = (("USER_EXPLICIT", "USER_INPUT"), ("MODEL", "PLANNER_RESPONSE"))[number % 2]
    about = {"step_index": number, "source": source, "type": kind, "created_at": moment(number)}
    return as_json({**about, "content": said(number)})


def _bubble(number: int) -> str:
    value = {
        "bubbleId": f"b{number}",
        "type": 1 + number % 2,
        "text": said(number),
        "createdAt": moment(number),
    }
    return as_json({"record": "bubble", "value": value})


def _goose(number: int) -> str:
    about = {
        "record": "message",
        "id": number,
        "session_id": "g1",
        "created_timestamp": 1_750_000_000 + number,
    }
    return as_json({**about, "role": PEOPLE[number % 2], "content_json": _blocks(number)})


def _deepseek(number: int) -> str:
    kind = ("REQUEST", "RESPONSE")[number % 2]
    message = {"inserted_at": moment(number), "fragments": [{"type": kind, "content": said(number)}]}
    about = {
        "id": f"n{number}",
        "parent": f"n{number - 1}" if number else None,
        "children": [f"n{number + 1}"],
    }
    return f'"n{number}": {as_json({**about, "message": message})}'


def _takeout(number: int) -> str:
    about = {"header": "Gemini Apps", "title": f"Prompted {said(number)}", "time": moment(number)}
    return as_json({**about, "safeHtmlItem": [{"html": f"<p>{said(number)}</p>"}]})


LARGE_AGENTS: Final[Mapping[str, Large]] = {
    "factory_droid": Large(
        "x.jsonl", _droid, before=as_json({"type": "session_start", "id": "d1", "cwd": "/home/lin"}) + "\n"
    ),
    "pi": Large(
        "x.jsonl",
        _pi,
        before=as_json({"type": "session", "id": "p1", "timestamp": moment(0), "cwd": "/home/lin"}) + "\n",
    ),
    "qwen_code": Large("x.jsonl", _qwen),
    "kimi_cli": Large(
        "x.jsonl",
        lambda number: as_json({"role": PEOPLE[number % 2], "content": _blocks(number)}),
        before=as_json({"role": "_checkpoint", "id": 0}) + "\n",
    ),
    "jan": Large("x.jsonl", _jan),
    "antigravity": Large("x.jsonl", _antigravity),
    "cursor_store": Large("x.jsonl", _bubble),
    "goose": Large("x.jsonl", _goose),
    "deepseek": Large("x.json", _deepseek, '[{"id": "c1", "mapping": {', ",\n", "}}]"),
    "gemini_takeout": Large("x.json", _takeout, "[", ",\n", "]"),
}
