"""``ChatMemoryTool`` and ``BlockingChatMemoryTool``: Anthropic's memory tool with the store of chatmemory.

    tool = ChatMemoryTool(Namespace("mei", "harbor"), runtime)
    runner = AsyncAnthropic().beta.messages.tool_runner(model=..., messages=..., max_tokens=..., tools=[tool])

Claude keeps notes in files below ``/memories``, with six commands whose texts it was trained on.  Here the files are
in the store next to conversations and memories, separate for each user; ``memory_files.py`` describes them.
"""

from chatmemory.extra import needs_extra

with needs_extra("anthropic"):
    from chatmemory.integrations.anthropic.memory_files import FileBounds
    from chatmemory.integrations.anthropic.memory_tool import BlockingChatMemoryTool, ChatMemoryTool

__all__ = ["BlockingChatMemoryTool", "ChatMemoryTool", "FileBounds"]
