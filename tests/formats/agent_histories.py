"""Small histories of agents that write one record per line, in the shapes that their public sources give them."""

import json
from collections.abc import Mapping
from typing import Any, Final

ASKED: Final = "Why does the nightly build install everything again?"
ANSWERED: Final = "Because the sources are copied before the dependencies are installed."
THANKED: Final = "可以了，构建时间从五分钟降到了四十秒，谢谢！"
CLOSED: Final = "Good. Keep the order: what changes most often comes last."
TALK: Final = (("user", ASKED), ("assistant", ANSWERED), ("user", THANKED), ("assistant", CLOSED))


def lines(*records: Mapping[str, Any]) -> str:
    """Write *records*, one per line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def at(number: int) -> str:
    """Return the time of the turn of this number."""
    return f"2026-06-01T10:00:{number:02d}.000Z"


def text(words: str) -> list[dict[str, str]]:
    """Return the blocks of a message that says *words*."""
    return [{"type": "text", "text": words}]


DROID: Final = lines(
    {"type": "session_start", "id": "d1", "title": "Nightly build", "owner": "lin", "cwd": "/home/lin/shop"},
    *(
        {
            "type": "message",
            "id": f"m{n}",
            "timestamp": at(n),
            "message": {"role": role, "content": text(words)},
        }
        for n, (role, words) in enumerate(TALK)
    ),
)
PI: Final = lines(
    {"type": "session", "version": 3, "id": "p1", "timestamp": at(0), "cwd": "/home/lin/shop"},
    *(
        {
            "type": "message",
            "id": f"e{n}",
            "parentId": f"e{n - 1}" if n else None,
            "timestamp": at(n),
            "message": {"role": role, "content": text(words), "timestamp": 1780308000000 + n},
        }
        for n, (role, words) in enumerate(TALK)
    ),
)
QWEN: Final = lines(
    *(
        {
            "uuid": f"0000000{n}-aaaa-4bbb-8ccc-000000000000",
            "parentUuid": f"0000000{n - 1}-aaaa-4bbb-8ccc-000000000000" if n else None,
            "sessionId": "q1",
            "timestamp": at(n),
            "type": role,
            "cwd": "/home/lin/shop",
            "version": "0.9.0",
            "gitBranch": "main",
            "message": {"role": "user" if role == "user" else "model", "parts": [{"text": words}]},
        }
        for n, (role, words) in enumerate(TALK)
    )
)
KIMI: Final = lines(
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": [{"type": "think", "think": "Layers?"}, *text(ANSWERED)]},
    {"role": "_usage", "token_count": 1200},
    {"role": "user", "content": text(THANKED)},
    {"role": "assistant", "content": text(CLOSED)},
)
JAN: Final = lines(
    *(
        {
            "id": f"msg_{n}",
            "object": "thread.message",
            "thread_id": "t1",
            "role": role,
            "content": [{"type": "text", "text": {"value": words, "annotations": []}}],
            "status": "ready",
            "created_at": 1780308000 + n,
            "completed_at": 1780308000 + n,
        }
        for n, (role, words) in enumerate(TALK)
    )
)
ANTIGRAVITY: Final = lines(
    *(
        {
            "step_index": n,
            "source": "USER_EXPLICIT" if role == "user" else "MODEL",
            "type": "USER_INPUT" if role == "user" else "PLANNER_RESPONSE",
            "status": "DONE",
            "created_at": at(n),
            "content": f"<USER_REQUEST>\n{words}\n</USER_REQUEST>" if role == "user" else words,
        }
        for n, (role, words) in enumerate(TALK)
    )
)

CURSOR_STORE: Final = lines(
    {
        "record": "composer",
        "value": {"composerId": "c1", "name": "Nightly build", "lastUpdatedAt": 1780308000000},
    },
    *(
        {
            "record": "bubble",
            "key": f"bubbleId:c1:b{n}",
            "value": {
                "bubbleId": f"b{n}",
                "type": 1 if role == "user" else 2,
                "text": words,
                "createdAt": at(n),
                "workspaceUris": ["file:///home/lin/shop"],
            },
        }
        for n, (role, words) in enumerate(TALK)
    ),
)
GOOSE: Final = lines(
    {"record": "session", "id": "g1", "name": "Nightly build", "working_dir": "/home/lin/shop"},
    *(
        {
            "record": "message",
            "id": n,
            "message_id": f"m{n}",
            "session_id": "g1",
            "role": role,
            "content_json": text(words),
            "created_timestamp": 1780308000 + n,
        }
        for n, (role, words) in enumerate(TALK)
    ),
)

AGENTS: Final[Mapping[str, Mapping[str, bytes | str]]] = {
    "antigravity": {".gemini/antigravity-cli/brain/b1/.system_generated/logs/transcript.jsonl": ANTIGRAVITY},
    "cursor_store": {"state.vscdb!cursor/c1.jsonl": CURSOR_STORE},
    "factory_droid": {".factory/sessions/-home-lin-shop/d1.jsonl": DROID},
    "goose": {"sessions.db!goose/g1.jsonl": GOOSE},
    "jan": {"jan/threads/t1/messages.jsonl": JAN},
    "kimi_cli": {".kimi/sessions/0a1b/k1/context.jsonl": KIMI},
    "pi": {".pi/agent/sessions/--home-lin-shop--/2026_p1.jsonl": PI},
    "qwen_code": {".qwen/projects/-home-lin-shop/chats/q1.jsonl": QWEN},
}
