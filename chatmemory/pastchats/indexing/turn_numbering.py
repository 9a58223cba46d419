"""Numbering: the place of a turn in its conversation, for the turns of one source."""

from hashlib import sha256
from typing import final

from attrs import define, field

from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.indexing.identity import KEY_BYTES


@final
@define
class Numbering:
    """Counts the turns of each conversation as they come.

    A later record of a turn takes the place of the earlier one.  Keys are short hashes: a history of half a million
    turns must not keep half a million ids.
    """

    _next: dict[str, int] = field(factory=dict[str, int])
    _place: dict[int, int] = field(factory=dict[int, int])

    def place_of(self, turn: PromptTurn) -> int:
        """Return the number of *turn*, from 0; the one that its reader gave, if it did."""
        following = self._next.get(turn.conversation_id, 0)
        if turn.turn_index is not None:
            self._next[turn.conversation_id] = max(following, turn.turn_index + 1)
            return turn.turn_index
        if turn.native_id is None:
            self._next[turn.conversation_id] = following + 1
            return following
        id_ = f"{turn.conversation_id}\0{turn.native_id}".encode(errors="surrogatepass")
        key = int.from_bytes(sha256(id_).digest()[:KEY_BYTES])
        place = self._place.setdefault(key, following)
        if place == following:
            self._next[turn.conversation_id] = following + 1
        return place
