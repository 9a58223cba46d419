"""The places of histories that no reader reads, by tool: an index run names them, so that nobody believes they were searched."""

from collections.abc import Mapping
from typing import Final

from chatmemory.pastchats.formats.history_format import KnownRoot

UNREAD: Final[Mapping[str, tuple[KnownRoot, ...]]] = {
    "Amp": (KnownRoot("~/.local/share/amp/threads", ("*.json",)),),
    "Cursor's command": (
        KnownRoot("$CURSOR_CONFIG_DIR/chats", ("*/*/store.db",)),
        KnownRoot("~/.cursor/chats", ("*/*/store.db",)),
    ),
    "Grok": (KnownRoot("~/.grok/sessions", ("*/*/chat_history.jsonl",)),),
    "Hermes": (KnownRoot("$HERMES_HOME", ("state.db",)), KnownRoot("~/.hermes", ("state.db",))),
    "LM Studio": (KnownRoot("~/.lmstudio/conversations", ("**/*.conversation.json",)),),
    "OpenClaw": (KnownRoot("~/.openclaw/agents", ("*/agent/openclaw-agent*.sqlite",)),),
    "Zed": tuple(
        KnownRoot(f"{data}/threads", ("threads.db",))
        for data in (
            "$XDG_DATA_HOME/zed",
            "~/.local/share/zed",
            "~/Library/Application Support/Zed",
            "$LOCALAPPDATA/Zed",
        )
    ),
}
