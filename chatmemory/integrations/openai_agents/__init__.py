"""``ChatMemorySession``: a session of the OpenAI Agents SDK in the conversations of chatmemory.

    session = ChatMemorySession("ann", ThreadRuntime(stacks.embedded("agent.db")))
    await Runner.run(agent, "Hello", session=session)

An item of the SDK is one message.  Its columns hold the role and the readable text, for search, summaries and the page.
Its metadata holds the item itself, which comes back equal.  Items that the history strategy has summarized are
returned as one item instead.  Messages with another origin, such as the API, are returned as items too.
"""

from chatmemory.extra import needs_extra

with needs_extra("openai-agents"):
    from chatmemory.integrations.openai_agents.session import ChatMemorySession

__all__ = ["ChatMemorySession"]
