"""An agent of Google's ADK that remembers: what is said on Monday is known on Tuesday, in another program.

    pip install 'chatmemory-effect[google-adk]'
    python examples/google_adk_agent.py

The model is a script, so that it runs offline: it answers with the first memory that it is shown.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import TemporaryDirectory

from google.adk.agents import Agent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from chatmemory import ThreadRuntime
from chatmemory.integrations.google_adk import ChatMemoryMemoryService
from chatmemory_layers import stacks


class Script(BaseLlm):
    """Says what was remembered, or nothing much."""

    model: str = "script"

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002  the framework names it
    ) -> AsyncGenerator[LlmResponse]:
        """Answer with the first line that the agent was told about the past."""
        told = [part.text or "" for content in llm_request.contents for part in content.parts or ()]
        shown = "\n".join(told).partition("<PAST_CONVERSATIONS>\n")[2]
        remembered = [line for line in shown.splitlines() if line.startswith("user: ")]
        said = f"You told me: {remembered[0].removeprefix('user: ')}" if remembered else "好的，我记住了。"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=said)]))


async def remember(callback_context: CallbackContext) -> None:
    """Add the session to the memory after each answer."""
    await callback_context.add_session_to_memory()


async def converse(store: Path, session_id: str, question: str) -> None:
    """Ask the agent in one session; the program, and all that ADK keeps itself, may end before the next."""
    agent = Agent(name="harbor", model=Script(), tools=[PreloadMemoryTool()], after_agent_callback=remember)
    async with ThreadRuntime(stacks.embedded(store)) as runtime:
        runner = Runner(
            app_name="harbor",
            agent=agent,
            session_service=InMemorySessionService(),
            memory_service=ChatMemoryMemoryService(runtime),
            auto_create_session=True,
        )
        asked = types.Content(role="user", parts=[types.Part(text=question)])
        async for event in runner.run_async(user_id="mei", session_id=session_id, new_message=asked):
            for part in event.content.parts or () if event.content else ():
                print(f"{session_id}: {question}\n  -> {part.text}")
        await runner.close()


async def main(store: Path) -> None:
    """Two sessions, two programs, one memory."""
    await converse(store, "monday", "我住在杭州，对花生过敏。")
    await converse(store, "tuesday", "我对什么过敏？")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder) / "agent.db"))
