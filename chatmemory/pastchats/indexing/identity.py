"""The identity of a turn: decides which turns, and which texts, are the same (spec, point 9).

A turn with an id from its tool is identified by the id, even if its text changes.  A turn without one is identified by its
text, its role and how often its conversation has said the same before: so repeated "ok" stay separate turns.
"""

import unicodedata
from hashlib import sha256
from typing import Final, final

from attrs import define, field

from chatmemory.input.choices import Role

VERSION: Final = b"1"  # part of every hash; changing it would make all turns new
KEY_BYTES: Final = (
    8  # bytes of a hash that are kept for counting: two of a million turns agree once in 37 million histories
)

_NATIVE: Final = VERSION + b"\0id\0"
_COUNTED: Final = VERSION + b"\0text\0"


def text_hash(text: str) -> str:
    r"""Hash *text* in a normal form: composed characters, one kind of line break, no space at the end.

    >>> text_hash("ok\r\n") == text_hash("ok"), text_hash("ok") == text_hash("OK")
    (True, False)
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return sha256(text.rstrip().encode()).hexdigest()


def native_hash(format_name: str, conversation_id: str, native_id: str, *, is_global: bool) -> str:
    """Hash a turn that has an id.

    If the tool's ids are globally unique, the conversation does not count: a resumed or forked session repeats the same
    turns.
    """
    conversation = "" if is_global else conversation_id
    return sha256(_NATIVE + f"{format_name}\0{conversation}\0{native_id}".encode()).hexdigest()


@final
@define
class Occurrences:
    """Counts repetitions in a conversation, for the turns of one source in their order."""

    _counts: dict[int, int] = field(factory=dict[int, int])

    def hash_of(self, format_name: str, conversation_id: str, role: Role, text: str) -> str:
        """Hash the next turn of *role* whose text has the hash *text*."""
        said = sha256(_COUNTED + f"{format_name}\0{conversation_id}\0{role}\0{text}".encode())
        key = int.from_bytes(said.digest()[:KEY_BYTES])
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        said.update(f"\0{count}".encode())
        return said.hexdigest()
