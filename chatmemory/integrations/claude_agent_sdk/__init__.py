"""``ChatMemorySessionStore``: stores the transcripts of the Claude Agent SDK (``SessionStore``) with chatmemory.

    store = ChatMemorySessionStore(ThreadRuntime(stacks.embedded("agent.db")))
    options = ClaudeAgentOptions(session_store=store, resume=session_id)

The entries of a transcript are items next to conversations and memories in the same store.  They come back unchanged,
because they contain fields that only the SDK knows.  ``recall`` does not search them.
"""

from chatmemory.extra import needs_extra

with needs_extra("claude-agent-sdk"):
    from chatmemory.integrations.claude_agent_sdk.session_store import ChatMemorySessionStore

__all__ = ["ChatMemorySessionStore"]
