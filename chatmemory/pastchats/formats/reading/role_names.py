"""``role_of``: maps the many names of roles in lists of messages to roles."""

from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_object
from chatmemory.pastchats.prompt import TurnKind

PLAIN_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}
"""The role names that are the same as ours; many tools use only these."""

ROLES: Final[dict[str, Role]] = {
    **dict.fromkeys(
        ("user", "human", "prompter", "customer", "client", "me", "you", "usr", "用户", "人类"), "user"
    ),
    **dict.fromkeys(
        (
            *(
                "assistant",
                "ai",
                "bot",
                "gpt",
                "chatgpt",
                "gpt-4",
                "gpt-3.5",
                "claude",
                "gemini",
                "bard",
                "bing",
            ),
            *("copilot", "agent", "model", "chatbot", "assistent", "llm", "sydney", "助手", "助理", "机器人"),
        ),
        "assistant",
    ),
    **dict.fromkeys(("system", "developer", "系统"), "system"),
    **dict.fromkeys(
        (
            *("tool", "function", "observation", "ipython"),
            *("function_response", "tool_response", "tool_result", "toolresult"),
        ),
        "tool",
    ),
}

ROLE_FIELDS: Final = ("role", "from", "sender", "author", "speaker", "sender_type", "type", "who", "user")
TEXT_FIELDS: Final = ("content", "text", "value", "message", "body", "parts", "blocks", "msg", "utterance")


def named(value: Json) -> str:
    """Return the name in *value*: a text, or an object such as ``{"role": "user"}``."""
    if isinstance(value, str):
        return value.strip()
    fields = json_object(value)
    if "login" in fields:
        return ""  # an account, whose type is not a role
    found = (fields.get(name) for name in ("role", "type", "name", "username"))
    return next((name.strip() for name in found if isinstance(name, str) and name.strip()), "")


def role_of(name: str) -> Role | None:
    """Return the role for *name*; None for the name of a person."""
    return ROLES.get(name.casefold())


def kind_of(role: Role) -> TurnKind:
    """Return the kind of turn of a message with *role* in a list of messages."""
    return "harness" if role == "system" else "tool_result" if role == "tool" else "typed"


def role_field(message: JsonObject) -> str:
    """Return the field of *message* that holds a role; "" when there is none."""
    return next((name for name in ROLE_FIELDS if name in message and role_of(named(message[name]))), "")


def text_field(message: JsonObject) -> str:
    """Return the field of *message* that holds its text, preferring one that is not empty; "" when there is none."""
    found = [name for name in TEXT_FIELDS if isinstance(message.get(name), str | list | dict)]
    return next((name for name in found if message[name]), found[0] if found else "")
