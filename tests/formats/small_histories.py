"""Small histories of the formats of which ``tests/data/histories`` holds none, in the shape that their tools write."""

import json
from collections.abc import Mapping
from typing import Final

from tests.formats.large_histories import LARGE
from tests.formats.large_history import at

ASKED: Final = "Why does the nightly build install everything again?"
ANSWERED: Final = "Because the sources are copied before the dependencies are installed."
THANKED: Final = "可以了，构建时间从五分钟降到了四十秒，谢谢！"
CLOSED: Final = "Good. Keep the order: what changes most often comes last."
TALK: Final = (("user", ASKED), ("assistant", ANSWERED), ("user", THANKED), ("assistant", CLOSED))

AGENTS: Final[Mapping[str, Mapping[str, str]]] = {
    name: {path: LARGE[name].of(TALK)}
    for name, path in {
        "antigravity": ".gemini/antigravity-cli/brain/b1/.system_generated/logs/transcript.jsonl",
        "cursor_store": "state.vscdb!cursor/c1.jsonl",
        "factory_droid": ".factory/sessions/-home-lin-shop/d1.jsonl",
        "goose": "sessions.db!goose/g1.jsonl",
        "jan": "jan/threads/t1/messages.jsonl",
        "kimi_cli": ".kimi/sessions/0a1b/k1/context.jsonl",
        "pi": ".pi/agent/sessions/--home-lin-shop--/2026_p1.jsonl",
        "qwen_code": ".qwen/projects/-home-lin-shop/chats/q1.jsonl",
    }.items()
}
"""By format and by the path at which ``index`` looks for them."""

OTHERS: Final[Mapping[str, str]] = {
    "claude_prompts": ".claude/history.jsonl",
    "copilot_cli": ".copilot/session-state/0b1e/events.jsonl",
    "deepseek": "deepseek.zip/conversations.json",
    "locomo": "locomo.json",
    "markdown": "talks/caches.md",
    "role_list": "chat.json",
    "sharegpt": "sharegpt.json",
}


def _takeout() -> str:
    """Return activities, each a question with its answer, the newest first."""
    asked = [json.loads(LARGE["gemini_takeout"].of([TALK[n]]))[0] for n in (2, 0)]
    answers = [{"safeHtmlItem": [{"html": f"<p>{TALK[n][1]}</p>"}], "time": at(n)} for n in (3, 1)]
    return json.dumps([{**one, **answer} for one, answer in zip(asked, answers, strict=True)])


SMALL: Final[Mapping[str, Mapping[str, bytes | str]]] = {
    **AGENTS,
    **{name: {path: LARGE[name].of(TALK)} for name, path in OTHERS.items()},
    "gemini_takeout": {"Takeout/My Activity/Gemini Apps/MyActivity.json": _takeout()},
}
