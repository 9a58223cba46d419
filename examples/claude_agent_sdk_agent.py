"""Sessions of the Claude Agent SDK in a store of your own: what was said on Monday is resumed on Tuesday, in another program.

    pip install 'chatmemory-effect[claude-agent-sdk]'
    python examples/claude_agent_sdk_agent.py

With the Claude Code command installed, ``query(prompt=..., options=ClaudeAgentOptions(session_store=store, resume=session))``
appends and loads what is appended and loaded here by hand, so that no network is needed.
"""

import asyncio
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from claude_agent_sdk import (
    SessionKey,
    SessionStoreEntry,
    get_session_messages_from_store,
    list_sessions_from_store,
    project_key_for_directory,
)

from chatmemory import ThreadRuntime
from chatmemory.integrations.claude_agent_sdk import ChatMemorySessionStore
from chatmemory_layers import stacks


def line(session: str, role: str, text: str, parent: str | None) -> SessionStoreEntry:
    """Return a line of a transcript, as Claude Code writes it."""
    spoken = {"role": role, "content": text}
    when = datetime(2026, 11, 23, 9, 30, tzinfo=UTC).isoformat()
    told = {"sessionId": session, "parentUuid": parent, "timestamp": when, "message": spoken}
    return {"type": role, "uuid": str(uuid4()), **told}


async def monday(store_path: Path, project: str) -> None:
    """Say something; the SDK would append it."""
    async with ThreadRuntime(stacks.embedded(store_path)) as runtime:
        store, session = ChatMemorySessionStore(runtime), str(uuid4())
        key: SessionKey = {"project_key": project_key_for_directory(project), "session_id": session}
        asked = line(session, "user", "我对花生过敏。", None)
        await store.append(key, [asked, line(session, "assistant", "好的，我记住了。", asked["uuid"])])


async def tuesday(store_path: Path, project: str) -> None:
    """Find the session, and read what ``resume`` hands to Claude Code."""
    async with ThreadRuntime(stacks.embedded(store_path)) as runtime:
        store = ChatMemorySessionStore(runtime)
        (session,) = await list_sessions_from_store(store, directory=project)
        print(session.summary)
        for message in await get_session_messages_from_store(store, session.session_id, directory=project):
            print(f"{message.type}: {message.message['content']}")


def main(folder: Path) -> None:
    """Two days, two programs, one memory."""
    asyncio.run(monday(folder / "agent.db", str(folder)))
    asyncio.run(tuesday(folder / "agent.db", str(folder)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            main(Path(directory))
