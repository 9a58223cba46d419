"""Types of the JSON that ``pastchats-memory COMMAND --json`` prints; ``schemas/pastchats_*.schema.json`` specify it.

Reports of an index run are printed unchanged (``past_chats.IndexReport``).  Names are camelCase, as everywhere in JSON;
instants are ISO 8601.  ``programs/pastchats/as_json.py`` makes these objects.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from chatmemory.input.choices import RecallMode, Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.finding.prompt_hits import PromptSignals
from chatmemory.pastchats.past_chats import Finding


class PrintedTurn(TypedDict):
    """A stored turn.

    Attributes:
        source: `path#turn`, as `show` takes it.
        superseded: whether its source no longer holds it.
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
    """A search hit.

    Attributes:
        hybridScore: the sum of the signals.
        similarity: the raw cosine; null unless query and turn both have a vector.
        alsoIn: other conversations with the same text.
    """

    hybridScore: float
    signals: PromptSignals
    similarity: float | None
    alsoIn: Sequence[str]


class PrintedResult(PrintedHit):
    """A hit with its rank.

    Attributes:
        rank: counted from 1.
    """

    rank: int


class PrintedSearch(TypedDict):
    """The output of `search`.

    Attributes:
        reason: why this search mode was used.
        results: the hits, best first.
    """

    query: str
    mode: RecallMode
    reason: str
    results: Sequence[PrintedResult]


class PrintedFailure(TypedDict):
    """An attempt that failed.

    Attributes:
        reported: the turn that corrects it or reports an error.
    """

    tried: Sequence[PrintedTurn]
    reported: PrintedTurn


class PrintedMemory(TypedDict):
    """A recalled exchange.

    Attributes:
        question: the turn that asked; null if only an answer is stored.
        whatWorked: the turns that answered it after the last failure.
        confirmed: the turn that confirms that it works.
        whatFailed: the failed attempts, oldest first.
        hit: the search hit that led to this exchange.
    """

    question: PrintedTurn | None
    whatWorked: Sequence[PrintedTurn]
    confirmed: PrintedTurn | None
    whatFailed: Sequence[PrintedFailure]
    hit: PrintedHit


class PrintedRecall(TypedDict):
    """The output of `recall`.

    Attributes:
        tokens: the length of the text in tokens.
        leftOut: the number of exchanges that did not fit into the budget.
        text: the block for a model's prompt.
    """

    query: str
    mode: RecallMode
    reason: str
    tokens: int
    leftOut: int
    text: str
    memories: Sequence[PrintedMemory]


class PrintedTurns(TypedDict):
    """The output of `show`.

    Attributes:
        around: the requested source.
    """

    around: str
    turns: Sequence[PrintedTurn]


class PrintedFindings(TypedDict):
    """The output of `doctor`.

    Attributes:
        isHealthy: whether no finding is an error.
    """

    isHealthy: bool
    findings: Sequence[Finding]


class PrintedStatistics(TypedDict):
    """The output of `stats` and `init`.

    Attributes:
        path: the path of the index.
        superseded: the number of turns that their sources no longer hold.
        models: the number of vectors by the model that made them.
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
