"""``Role``: who speaks."""

from typing import Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "system", "tool", "summary"]
