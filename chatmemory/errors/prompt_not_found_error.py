"""``PromptNotFoundError``: past chats hold nothing from a source."""

from typing import Literal, final

from attrs import frozen


@final
@frozen
class PromptNotFoundError:
    """Nothing is indexed from this source."""

    source: str
    tag: Literal["PromptNotFoundError"] = "PromptNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """True: it may be indexed meanwhile."""
        return True

    def __str__(self) -> str:
        return f"nothing is indexed as {self.source!r}: name a source as search and recall print it, or index it first"
