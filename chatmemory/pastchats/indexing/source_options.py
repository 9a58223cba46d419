"""The options that decide, besides the bytes of a file, which of its turns are kept and how.

They are stored as a short text with the source; a different text makes an unchanged file be read again.
"""

from hashlib import sha256
from typing import Final, final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.pastchats.formats.history_format import HistoryFormat
from chatmemory.pastchats.past_chats import IndexRequest
from chatmemory.pastchats.prompt import TurnKind
from chatmemory.pastchats.redaction import redaction

VERSION: Final = 2  # the version of cleaning, numbering and drafting
REDACTION: Final = "redaction="


@final
@frozen
class SourceOptions:
    """The options of reading a source.

    Attributes:
        roles: the roles to keep; empty keeps all.
        format: the reader of every file; None lets the content decide.
        redaction: the version of the redaction rules.
        reading: the options of a file that a format has read.
        claiming: the options of a file that no format claimed; another set of formats may claim it.
    """

    roles: frozenset[Role]
    kinds: frozenset[TurnKind]
    is_redacted: bool
    format: str | None
    redaction: str
    reading: str
    claiming: str

    def redacts_more_than(self, options: str) -> bool:
        """Return whether turns that were read with other *options* may hold secrets that are redacted now."""
        return bool(self.redaction) and self.redaction not in options.split(";")


def source_options(
    request: IndexRequest, formats: tuple[HistoryFormat, ...], *, is_redacted: bool
) -> SourceOptions:
    """Return the options of a run."""
    parts = [str(VERSION), f"kinds={','.join(sorted(request.kinds))}"]
    if request.roles:
        parts.append(f"roles={','.join(sorted(request.roles))}")
    rules = f"{REDACTION}{redaction.VERSION}" if is_redacted else ""
    if rules:
        parts.append(rules)
    if request.format is not None:
        parts.append(f"format={request.format}")
    reading = ";".join(parts)
    known = ",".join(sorted(f"{one.name}/{one.version}" for one in formats))
    return SourceOptions(
        roles=frozenset(request.roles),
        kinds=request.kinds,
        is_redacted=is_redacted,
        format=request.format,
        redaction=rules,
        reading=reading,
        claiming=f"{reading};formats={sha256(known.encode()).hexdigest()[:16]}",
    )
