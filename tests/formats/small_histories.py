"""Small histories of the formats of which ``tests/data/histories`` holds none, in the shape that their tools write."""

import json
from collections.abc import Mapping
from typing import Any, Final

from tests.formats.agent_histories import AGENTS, TALK, at


def _lines(*records: Mapping[str, Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


CLAUDE_PROMPTS: Final = _lines(
    {
        "display": "为什么这个测试有时会失败？",
        "pastedContents": {},
        "timestamp": 1756700000123,
        "project": "/home/lin/bot",
        "sessionId": "5d3c",
    },
    {
        "display": "Explain why the retry loop never ends",
        "pastedContents": {},
        "timestamp": 1756700100456,
        "project": "/home/lin/bot",
        "sessionId": "5d3c",
    },
    {
        "display": "/init",
        "pastedContents": {},
        "timestamp": 1756700200789,
        "project": "/home/lin/site",
        "sessionId": "77aa",
    },
)

COPILOT_CLI: Final = _lines(
    {
        "type": "session.start",
        "data": {
            "sessionId": "0b1e",
            "version": 1,
            "producer": "copilot-agent",
            "copilotVersion": "0.0.350",
            "startTime": "2025-11-01T08:00:00.000Z",
            "context": {"cwd": "/home/lin/site", "branch": "main"},
        },
        "id": "e0",
        "timestamp": "2025-11-01T08:00:00.000Z",
        "parentId": None,
    },
    {
        "type": "user.message",
        "data": {"content": "把日志里的时间改成 UTC，好吗？", "transformedContent": "…", "attachments": []},
        "id": "e1",
        "timestamp": "2025-11-01T08:00:05.000Z",
        "parentId": "e0",
    },
    {
        "type": "assistant.turn_start",
        "data": {"turnId": "0"},
        "id": "e2",
        "timestamp": "2025-11-01T08:00:06.000Z",
        "parentId": "e1",
    },
    {
        "type": "assistant.message",
        "data": {
            "messageId": "m1",
            "content": "I replaced datetime.now() by datetime.now(UTC) in three places.",
            "toolRequests": [],
        },
        "id": "e3",
        "timestamp": "2025-11-01T08:00:09.000Z",
        "parentId": "e2",
    },
    {
        "type": "user.message",
        "data": {"content": "Thanks, that fixed the timestamps.", "attachments": []},
        "id": "e4",
        "timestamp": "2025-11-01T08:01:00.000Z",
        "parentId": "e3",
    },
)

SHAREGPT: Final = json.dumps(
    [
        {
            "id": "identity_0",
            "conversations": [
                {"from": "human", "value": "What is the capital of Australia, please?"},
                {"from": "gpt", "value": "The capital of Australia is Canberra."},
                {"from": "human", "value": "那新西兰的首都呢？请用一句话回答我。"},
                {"from": "gpt", "value": "新西兰的首都是惠灵顿，位于北岛的最南端，人口约二十万。"},
            ],
        },
        {
            "id": "identity_1",
            "conversations": [
                {"from": "system", "value": "Answer briefly."},
                {"from": "human", "value": "ok"},
                {"from": "gpt", "value": "ok"},
            ],
        },
    ],
    ensure_ascii=False,
    indent=2,
)

LOCOMO: Final = json.dumps(
    [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Mei",
                "speaker_b": "Jonas",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {
                        "speaker": "Mei",
                        "dia_id": "D1:1",
                        "text": "Hey Jonas! How did the pottery class go on Saturday?",
                    },
                    {
                        "speaker": "Jonas",
                        "dia_id": "D1:2",
                        "text": "It was great, I made a blue bowl for my sister.",
                        "blip_caption": "a photo of a blue bowl",
                    },
                ],
                "session_2_date_time": "10:04 am on 19 June, 2023",
                "session_2": [
                    {
                        "speaker": "Mei",
                        "dia_id": "D2:1",
                        "text": "My sister and I are going hiking next weekend.",
                    }
                ],
                "session_3_date_time": "9:00 am on 1 July, 2023",
            },
            "qa": [
                {"question": "What did Jonas make?", "answer": "a bowl", "evidence": ["D1:2"], "category": 1}
            ],
        }
    ],
    indent=2,
)

ROLE_LIST: Final = json.dumps(
    [
        {"role": "user", "content": "How do I undo the last commit without losing my work?"},
        {"role": "assistant", "content": "Run git reset --soft HEAD~1: the changes stay staged."},
        {"role": "user", "content": "谢谢！如果已经推送到远程仓库了怎么办？"},
        {"role": "assistant", "content": "那就用 git revert HEAD，它会新建一个反向的提交，不改写历史。"},
    ],
    ensure_ascii=False,
)

MARKDOWN: Final = """# A talk about caches

## User

Why does the Docker build install everything again each time?

## Assistant

Because the sources are copied before the dependencies are installed:

```dockerfile
# User: this is a comment
COPY . .
RUN pip install -r requirements.txt
```

Copy the list of requirements first.

## User

可以了，构建时间从五分钟降到了四十秒，谢谢你的帮助！

## Assistant

Good. Keep the order: what changes most often comes last.
"""

DEEPSEEK: Final = json.dumps(
    [
        {
            "id": "c1",
            "title": "Nightly build",
            "inserted_at": at(0),
            "mapping": {
                "root": {"id": "root", "parent": None, "children": ["0"], "message": None},
                **{
                    str(n): {
                        "id": str(n),
                        "parent": str(n - 1) if n else "root",
                        "children": [str(n + 1)] if n < len(TALK) - 1 else [],
                        "message": {
                            "files": [],
                            "model": "deepseek-chat",
                            "inserted_at": at(n),
                            "fragments": [
                                {"type": "REQUEST" if role == "user" else "RESPONSE", "content": words}
                            ],
                        },
                    }
                    for n, (role, words) in enumerate(TALK)
                },
            },
        }
    ],
    ensure_ascii=False,
)
GEMINI_TAKEOUT: Final = json.dumps(
    [
        {
            "header": "Gemini Apps",
            "title": f"Prompted {TALK[n][1]}",
            "time": at(n),
            "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": f"<p>{TALK[n + 1][1]}</p>"}],
        }
        for n in (2, 0)
    ],
    ensure_ascii=False,
)

SMALL: Final[Mapping[str, Mapping[str, bytes | str]]] = {
    **AGENTS,
    "claude_prompts": {".claude/history.jsonl": CLAUDE_PROMPTS},
    "copilot_cli": {".copilot/session-state/0b1e/events.jsonl": COPILOT_CLI},
    "deepseek": {"deepseek.zip/conversations.json": DEEPSEEK},
    "gemini_takeout": {"Takeout/My Activity/Gemini Apps/MyActivity.json": GEMINI_TAKEOUT},
    "locomo": {"locomo.json": LOCOMO},
    "markdown": {"talks/caches.md": MARKDOWN},
    "role_list": {"chat.json": ROLE_LIST},
    "sharegpt": {"sharegpt.json": SHAREGPT},
}
