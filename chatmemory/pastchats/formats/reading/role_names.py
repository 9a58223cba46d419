"""``role_of``: maps the many names of roles in lists of messages to roles."""

from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.pastchats.prompt import TurnKind

PLAIN_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}
"""The role names that are the same as ours; many tools use only these."""

_NAMES: Final[Mapping[Role, str]] = {
    "user": "user human prompter customer client me you usr 用户 人类",
    "assistant": "assistant ai bot gpt chatgpt gpt-4 gpt-3.5 claude gemini bard bing copilot agent model chatbot "
    "assistent llm sydney 助手 助理 机器人",
    "system": "system developer 系统",
    "tool": "tool function observation ipython function_response tool_response tool_result toolresult",
}
_ROLES: Final[Mapping[str, Role]] = {name: role for role, names in _NAMES.items() for name in names.split()}


def role_of(name: str) -> Role | None:
    """Return the role for *name*; None for the name of a person."""
    return _ROLES.get(name.casefold())


def kind_of(role: Role) -> TurnKind:
    """Return the kind of turn of a message with *role* in a list of messages."""
    return "harness" if role == "system" else "tool_result" if role == "tool" else "typed"
