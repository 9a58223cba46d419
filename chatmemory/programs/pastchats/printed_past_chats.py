"""What ``pastchats-memory COMMAND --json`` prints, as types; ``schemas/pastchats_*.schema.json`` promise it to programs.

Reports of an index run are printed as they are (``past_chats.IndexReport``).  Names are camelCase, as
everywhere in JSON; instants are ISO 8601.  How values become these objects is ``programs/pastchats/as_json.py``'s.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from chatmemory.input.choices import RecallMode, Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.finding.prompt_hits import PromptSignals
from chatmemory.pastchats.past_chats import Finding


class PrintedTurn(TypedDict):
    """A kept turn.

    Attributes:
        source: `path#turn`, as `show` takes it.
        superseded: its source no longer holds it.
    """

    source: str
    path: str
    turn: int
    conversation: str
    project: str
    format: str
    role: Role
    speaker: str | None
    timestamp: datetime | None
    content: str
    superseded: bool
    metadata: JsonObject


class PrintedHit(PrintedTurn):
    """A turn that was found.

    Attributes:
        hybridScore: the sum of the signals.
        similarity: raw cosine; null without two vectors.
        alsoIn: further conversations with the very same text.
    """

    hybridScore: float
    signals: PromptSignals
    similarity: float | None
    alsoIn: Sequence[str]


class PrintedResult(PrintedHit):
    """A hit in its place.

    Attributes:
        rank: from 1.
    """

    rank: int


class PrintedSearch(TypedDict):
    """What `search` prints.

    Attributes:
        reason: why the mode is what it is.
        results: best first.
    """

    query: str
    mode: RecallMode
    reason: str
    results: Sequence[PrintedResult]


class PrintedFailure(TypedDict):
    """What was tried in vain.

    Attributes:
        reported: the turn that corrects it or reports an error.
    """

    tried: Sequence[PrintedTurn]
    reported: PrintedTurn


class PrintedMemory(TypedDict):
    """A recalled exchange.

    Attributes:
        question: what was asked; null where only an answer is kept.
        whatWorked: the turns that answered it, after the last failure.
        confirmed: the turn that says that it works.
        whatFailed: the oldest first.
        hit: what was found.
    """

    question: PrintedTurn | None
    whatWorked: Sequence[PrintedTurn]
    confirmed: PrintedTurn | None
    whatFailed: Sequence[PrintedFailure]
    hit: PrintedHit


class PrintedRecall(TypedDict):
    """What `recall` prints.

    Attributes:
        tokens: how long the text is.
        leftOut: exchanges that the budget had no room for.
        text: the block that a model is given.
    """

    query: str
    mode: RecallMode
    reason: str
    tokens: int
    leftOut: int
    text: str
    memories: Sequence[PrintedMemory]


class PrintedTurns(TypedDict):
    """What `show` prints.

    Attributes:
        around: the source that was asked for.
    """

    around: str
    turns: Sequence[PrintedTurn]


class PrintedFindings(TypedDict):
    """What `doctor` prints.

    Attributes:
        isHealthy: whether no finding is an error.
    """

    isHealthy: bool
    findings: Sequence[Finding]


class PrintedStatistics(TypedDict):
    """What `stats` and `init` print.

    Attributes:
        path: of the index.
        superseded: turns that their sources no longer hold.
        models: vectors by the model that made them.
    """

    path: str
    prompts: int
    embeddings: int
    conversations: int
    sources: int
    missingSources: int
    superseded: int
    byFormat: Mapping[str, int]
    byRole: Mapping[str, int]
    byProject: Mapping[str, int]
    models: Mapping[str, int]
    oldest: datetime | None
    newest: datetime | None
    bytesOnDisk: int
    lastIndexedAt: datetime | None
