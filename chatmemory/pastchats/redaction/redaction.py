"""Redaction: takes secrets out of what was said, before anything is stored.

People paste keys into chats, and tools print them.  What is taken out is named in its place, so that the turn still
reads: ``curl -H "Authorization: Bearer [redacted: bearer token]"``.  Commit hashes, UUIDs and images stay.
"""

from collections.abc import Mapping, Sequence
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import Json
from chatmemory.pastchats.redaction.secret_assignments import assigned_secrets
from chatmemory.pastchats.redaction.secret_places import placed_secrets
from chatmemory.pastchats.redaction.secret_shapes import shaped_secrets

VERSION: Final = 3  # another one reads every source anew

LEAST_TEXT: Final = 12  # characters: no secret of any shape is shorter than that with what names it


@final
@define
class Redaction:
    """Takes secrets out, and counts them by name."""

    counts: dict[str, int] = field(factory=dict[str, int])

    @property
    def total(self) -> int:
        """How many secrets were removed."""
        return sum(self.counts.values())

    def text(self, text: str) -> str:
        """Return *text* with a name in the place of each secret.

        >>> Redaction().text("curl -u me:s3same-0pen https://api.test")
        'curl -u me:[redacted: password] https://api.test'
        """
        if len(text) < LEAST_TEXT:
            return text
        found = shaped_secrets(text)
        found += _named(text)
        return self._without(text, found) if found else text

    def metadata(self, given: Mapping[str, Json]) -> dict[str, Json]:
        """Return *given* with the secrets taken out of every text within."""
        return {name: self._value(value) for name, value in given.items()}

    def _value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self._value(member) for name, member in value.items()}
        if isinstance(value, Sequence):
            return [self._value(member) for member in value]
        return value

    def _without(self, text: str, found: list[tuple[int, int, str]]) -> str:
        kept: list[str] = []
        at = 0
        # Of two that overlap the first counts; what is left of the other is no secret any more.
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
    if len(lowered) != len(text):  # "İ" is two characters in lower case, and places would shift
        lowered = "".join([character.lower() if character.isascii() else character for character in text])
    return assigned_secrets(text, lowered) + placed_secrets(text, lowered)
