"""``Redaction``: removes secrets from texts before anything is stored.

People paste keys into chats, and tools print them.  A removed secret is replaced by its kind, so that the turn stays
readable: ``curl -H "Authorization: Bearer [redacted: bearer token]"``.  Commit hashes, UUIDs and images stay.
"""

from collections.abc import Mapping, Sequence
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import Json
from chatmemory.pastchats.redaction.secret_assignments import assigned_secrets
from chatmemory.pastchats.redaction.secret_places import placed_secrets
from chatmemory.pastchats.redaction.secret_shapes import shaped_secrets

VERSION: Final = 5  # a new version reads every source again

LEAST_TEXT: Final = 8  # characters: no secret together with its name is shorter


@final
@define
class Redaction:
    """Removes secrets, and counts them by kind."""

    counts: dict[str, int] = field(factory=dict[str, int])

    @property
    def total(self) -> int:
        """The number of removed secrets."""
        return sum(self.counts.values())

    def text(self, text: str) -> str:
        """Return *text* with each secret replaced by its kind.

        >>> Redaction().text("curl -u me:s3same-0pen https://api.test")
        'curl -u me:[redacted: password] https://api.test'
        """
        if len(text) < LEAST_TEXT:
            return text
        found = shaped_secrets(text)
        found += _named(text)
        return self._without(text, found) if found else text

    def metadata(self, given: Mapping[str, Json]) -> dict[str, Json]:
        """Return *given* without the secrets in its texts."""
        return {name: self.value(value) for name, value in given.items()}

    def value(self, value: Json) -> Json:
        """Return *value* without the secrets in its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self.metadata(value)
        if isinstance(value, Sequence):
            return [self.value(member) for member in value]
        return value

    def _without(self, text: str, found: list[tuple[int, int, str]]) -> str:
        kept: list[str] = []
        at = 0
        # Of two overlapping secrets the first one is replaced by its kind; the rest of the other is no secret without
        # it.
        for start, end, name in sorted(found, key=lambda secret: (secret[0], -secret[1])):
            if start >= at:
                kept += text[at:start], f"[redacted: {name}]"
                at = end
                self.counts[name] = self.counts.get(name, 0) + 1
            elif end > at:
                at = end
        kept.append(text[at:])
        return "".join(kept)


def _named(text: str) -> list[tuple[int, int, str]]:
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" is two characters in lower case, which would shift positions
        lowered = "".join([character.lower() if character.isascii() else character for character in text])
    return assigned_secrets(text, lowered) + placed_secrets(text, lowered)
