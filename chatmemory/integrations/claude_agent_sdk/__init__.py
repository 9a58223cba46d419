"""``ChatMemorySessionStore``: stores the transcripts of the Claude Agent SDK (``SessionStore``) with chatmemory.

    store = ChatMemorySessionStore(ThreadRuntime(stacks.embedded("agent.db")))
    options = ClaudeAgentOptions(session_store=store, resume=session_id)

The entries of a transcript are items next to conversations and memories in the same store: they come back unchanged,
because the SDK reads fields of its own in them, and ``recall`` does not search them.
"""

from chatmemory.extra import needs_extra

with needs_extra("claude-agent-sdk"):
    from chatmemory.integrations.claude_agent_sdk.session_store import ChatMemorySessionStore

__all__ = ["ChatMemorySessionStore"]
