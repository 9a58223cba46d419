"""What decides, beside a file's own bytes, which turns of it are kept and how: a short text that is kept with the source.

Another text reads the file anew, although it has not changed.
"""

from hashlib import sha256
from typing import Final, final

from attrs import frozen

from chatmemory.contracts import HistoryFormat
from chatmemory.messages import Role
from chatmemory.past_chats import IndexRequest
from chatmemory.pastchats import redaction
from chatmemory.prompt import TurnKind

VERSION: Final = 1  # of cleaning, numbering and drafting


@final
@frozen
class SourceOptions:
    """Which turns of a source are kept, and how.

    Attributes:
        roles: none: everybody's.
        format: what reads every file; None: its content decides.
        reading: of a file that a format has read.
        claiming: of a file that no format has claimed: another set of formats may.
    """

    roles: frozenset[Role]
    kinds: frozenset[TurnKind]
    is_redacted: bool
    format: str | None
    reading: str
    claiming: str


def source_options(
    request: IndexRequest, formats: tuple[HistoryFormat, ...], *, is_redacted: bool
) -> SourceOptions:
    """Return the options of a run."""
    parts = [str(VERSION), f"kinds={','.join(sorted(request.kinds))}"]
    if request.roles:
        parts.append(f"roles={','.join(sorted(request.roles))}")
    if is_redacted:
        parts.append(f"redaction={redaction.VERSION}")
    if request.format is not None:
        parts.append(f"format={request.format}")
    reading = ";".join(parts)
    known = ",".join(sorted(f"{one.name}/{one.version}" for one in formats))
    return SourceOptions(
        roles=frozenset(request.roles),
        kinds=request.kinds,
        is_redacted=is_redacted,
        format=request.format,
        reading=reading,
        claiming=f"{reading};formats={sha256(known.encode()).hexdigest()[:16]}",
    )
