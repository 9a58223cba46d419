"""Sessions of Google's ADK that outlive their program: what is said on Monday stands in the session on Tuesday.

    pip install 'chatmemory-effect[google-adk]'
    python examples/google_adk_sessions.py

The model is a script, so that it runs offline: it repeats what it was told first, and the state knows what was said.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import TemporaryDirectory

from google.adk.agents import Agent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.genai import types

from chatmemory import ThreadRuntime
from chatmemory.integrations.google_adk import ChatMemorySessionService
from chatmemory_layers import stacks


class Script(BaseLlm):
    """Repeats the first thing that the user said in the session."""

    model: str = "script"

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002  the framework names it
    ) -> AsyncGenerator[LlmResponse]:
        """Answer with what stands at the beginning of the session."""
        said = [part.text or "" for content in llm_request.contents for part in content.parts or ()]
        answer = f"You told me: {said[0]}" if len(said) > 1 else "好的，我记住了。"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))


async def converse(store: Path, question: str) -> None:
    """Ask the agent in the one session of Mei; the program may end before the next question."""
    agent = Agent(name="harbor", model=Script(), output_key="user:last_answer")
    async with ThreadRuntime(stacks.embedded(store)) as runtime:
        sessions = ChatMemorySessionService(runtime)
        runner = Runner(app_name="harbor", agent=agent, session_service=sessions, auto_create_session=True)
        asked = types.Content(role="user", parts=[types.Part(text=question)])
        async for event in runner.run_async(user_id="mei", session_id="trip", new_message=asked):
            for part in event.content.parts or () if event.content else ():
                print(f"{question}\n  -> {part.text}")
        known = await sessions.get_user_state(app_name="harbor", user_id="mei")
        print(f"  the state of Mei: {known}")
        await runner.close()


async def main(store: Path) -> None:
    """Monday and Tuesday: two programs, one session."""
    await converse(store, "我住在杭州，对花生过敏。")
    await converse(store, "我对什么过敏？")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder) / "agent.db"))
