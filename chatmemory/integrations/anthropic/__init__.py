"""``ChatMemoryTool`` and ``BlockingChatMemoryTool``: Anthropic's memory tool, kept by chatmemory.

    tool = ChatMemoryTool(Namespace("mei", "harbor"), runtime)
    runner = AsyncAnthropic().beta.messages.tool_runner(model=..., messages=..., max_tokens=..., tools=[tool])

Claude keeps notes in files below ``/memories``, by six commands whose words it was trained on.  Here the files stand in
the store beside conversations and memories, each user's apart; ``memory_files.py`` says how.
"""

from chatmemory.extra import needs_extra

with needs_extra("anthropic"):
    from chatmemory.integrations.anthropic.memory_files import FileBounds
    from chatmemory.integrations.anthropic.memory_tool import BlockingChatMemoryTool, ChatMemoryTool

__all__ = ["BlockingChatMemoryTool", "ChatMemoryTool", "FileBounds"]
