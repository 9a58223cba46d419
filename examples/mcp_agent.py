"""An agent with memory over the Model Context Protocol: what one session remembers, the next one recalls.

The model is scripted, so that it runs anywhere: ``python examples/mcp_agent.py`` (extra ``mcp``).
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

SERVER = json.loads(Path(__file__).with_name("mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memory"]


async def session(folder: str, *script: tuple[str, dict[str, Any]]) -> list[str]:
    """Let a scripted model call tools in a session of its own, and return what it reads."""
    read: list[str] = []
    server = StdioServerParameters(**SERVER, cwd=folder)
    async with Client(stdio_client(server)) as client:
        for tool, arguments in script:
            result = await client.call_tool(tool, arguments)
            read += [content.text for content in result.content if content.type == "text"]
    return read


async def main() -> None:
    """Remember in one session, recall in the next."""
    with tempfile.TemporaryDirectory() as folder:
        await session(
            folder,
            ("remember", {"content": "用户喜欢用 Rust 编程", "key": "编程语言", "category": "preference"}),
        )
        (recalled,) = await session(folder, ("recall", {"query": "用哪种编程语言？", "where": "memories"}))
        fact = next(line for line in recalled.split("\n") if line.startswith("{"))
        print(json.loads(fact)["content"])


if __name__ == "__main__":
    asyncio.run(main())
