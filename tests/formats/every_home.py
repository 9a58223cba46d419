"""``make_home``: a home with a history of every tool that ``index`` knows the place of."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.formats.histories import FILES
from tests.formats.small_histories import AGENTS
from tests.formats.sqlite_histories import make_store
from tests.indexed import write

_OF_TOOLS: Final = (
    *("CODEX_HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "OPENCODE_DB", "GOOSE_PATH_ROOT"),
    *("CURSOR_CONFIG_DIR", "KIMI_CODE_HOME", "HERMES_HOME"),
)
ELSEWHERE: Final = ("XDG_DATA_HOME", "LOCALAPPDATA", "APPDATA", *_OF_TOOLS)
"""Variables that would lead out of a home."""

ROLLOUT: Final = "rollout-2025-09-19T09-02-12-01996135-afde-7911-97f0-d863511eca56.jsonl"
CODEX: Final = FILES[f"codex_cli/{ROLLOUT}"]
STORES: Final[Mapping[str, str]] = {
    "cursor_store": ".config/Cursor/User/globalStorage",
    "goose": ".local/share/goose/sessions",
    "opencode": ".local/share/opencode",
}
COWORK: Final = ".config/Claude/local-agent-mode-sessions/a/b/.claude/projects/-home-lin-shop/5d3c.jsonl"


def make_home(folder: Path) -> Path:
    """Write the histories into *folder*, and return it."""
    for files in AGENTS.values():
        for path, content in files.items():
            if "!" not in path:
                write(folder / path, content)
    for name, place in STORES.items():
        make_store(name, folder / place)
    write(folder / ".codex/sessions/2025/09/19" / ROLLOUT, CODEX)
    write(folder / COWORK, FILES["claude_code/em_short.jsonl"])
    return folder
