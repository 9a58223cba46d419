"""The parts of pydantic-ai: the exceptions for its users, and a message as the JSON that it writes and reads."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError
from pydantic_ai import __version__
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_core import PydanticSerializationError

from chatmemory.integrations.raising import Raising

RAISING: Final = Raising(refused=UserError, failed=AgentRunError, closed=UserError)


def json_text(message: ModelMessage) -> str:
    """Return *message* as JSON, in a list of one message, as pydantic-ai writes it."""
    try:
        return ModelMessagesTypeAdapter.dump_json([message]).decode()
    except PydanticSerializationError as unwritable:
        raise UserError(f"a message that is no JSON cannot be stored: {unwritable}") from unwritable


def message_of(text: str, *, name: str) -> ModelMessage:
    """Return the message in the JSON *text*; *name* is its name in an error."""
    try:
        (message,) = ModelMessagesTypeAdapter.validate_json(text)
    except (ValidationError, ValueError) as unreadable:
        raise UserError(f"{name} is none of pydantic-ai {__version__}: {unreadable}") from unreadable
    return message
