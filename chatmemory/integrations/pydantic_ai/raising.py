"""What users of pydantic-ai catch."""

from typing import Final

from pydantic_ai.exceptions import AgentRunError, UserError

from chatmemory.integrations.raising import Raising

RAISING: Final = Raising(refused=UserError, failed=AgentRunError, closed=UserError)
