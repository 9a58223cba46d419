"""``KeptTurns``: a dictionary that holds what an index of past chats has to hold."""

from collections.abc import Mapping
from typing import final

from attrs import define, field


@final
@define
class Row:
    """A turn as the model keeps it."""

    text: str
    owner: str
    also: set[str] = field(factory=set[str])
    is_superseded: bool = False


@final
@define
class KeptTurns:
    """What a store holds, by identity."""

    rows: dict[str, Row] = field(factory=dict[str, Row])
    missing: set[str] = field(factory=set[str])
    forgotten: set[str] = field(factory=set[str])

    def commit(self, source: str, held: Mapping[str, str], *, is_whole: bool = True) -> tuple[int, int]:
        """Take in what *source* holds; *is_whole*: and nothing else.

        Return how many turns are new, and how many are superseded.
        """
        held = {identity: text for identity, text in held.items() if identity not in self.forgotten}
        new = len(held.keys() - self.rows.keys())
        for identity, text in held.items():
            self._take(source, identity, text)
        superseded = 0
        for identity, row in self.rows.items():
            if identity in held or not is_whole:
                continue
            if row.owner == source and row.also:
                row.owner = min(row.also)
                row.also.discard(row.owner)
            elif row.owner == source and not row.is_superseded:
                row.is_superseded = True
                superseded += 1
            row.also.discard(source)
        self.missing.discard(source)
        return new, superseded

    def _take(self, source: str, identity: str, text: str) -> None:
        row = self.rows.setdefault(identity, Row(text, source))
        if row.owner != source:
            if not row.is_superseded and len(text) <= len(row.text):
                row.also.add(source)
                return
            row.also |= set() if row.is_superseded else {row.owner}
            row.also.discard(source)
        row.owner, row.text, row.is_superseded = source, text, False

    def forget(self, source: str) -> int:
        """Delete what *source* holds, and let it never come back."""
        gone = {identity for identity, row in self.rows.items() if source in {row.owner, *row.also}}
        self.forgotten |= gone
        return self._delete(gone)

    def mark_missing(self, *sources: str) -> None:
        """Let others have what *sources* held, who are gone."""
        self.missing |= set(sources)
        for row in self.rows.values():
            row.also -= self.missing
            if row.owner in sources and row.also:
                row.owner = min(row.also)
                row.also.discard(row.owner)

    def prune(self) -> int:
        """Delete what no source holds any more."""
        gone = {
            identity for identity, row in self.rows.items() if row.is_superseded or row.owner in self.missing
        }
        self.missing.clear()
        return self._delete(gone)

    def _delete(self, gone: set[str]) -> int:
        for identity in gone:
            del self.rows[identity]
        return len(gone)

    def held(self) -> list[tuple[str, str, list[str], bool]]:
        """Return each turn: its text, where it stands, where else, and whether it was edited away."""
        return sorted(
            (row.text, row.owner, sorted(row.also), row.is_superseded) for row in self.rows.values()
        )
