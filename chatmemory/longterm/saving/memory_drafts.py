"""``MemoryDrafts``: turns the memories of callers into drafts for a repository, with ids, search terms and vectors.

It checks vectors only; the other rules are in ``memory_rules.py``.

In a ``SaveForm`` a person saves a message to long-term memory (spec 002, the save dialog).  A program shows the form that
``opened_form`` returns, and then the form that ``fill_form`` returns.  The second form must not overwrite what the person
has typed in the meantime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from json import JSONEncoder
from typing import Final, Literal, assert_never, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock
from chatmemory.effect.services.ids import Ids
from chatmemory.embedding.embedder import Embedder
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.embedding.unit_vectors import Placed, embed_texts, unit_table, unit_vector
from chatmemory.errors import DataValidationError, Problem, RecallError
from chatmemory.input.json_value import AS_GIVEN, Json
from chatmemory.input.rules import refuse
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.extraction.attributes.names import asked_by
from chatmemory.longterm.extraction.memory_extractor import Extraction, Speaker
from chatmemory.longterm.memories import Category, DedupPolicy, Memory, MemoryType, NewMemory
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory.text.long_work import long_or_short
from chatmemory.text.search_terms import search_terms

# As spec 002 words them.
DEFAULT_KEYS: Final[dict[Speaker, str]] = {"user": "用户输入", "assistant": "AI回复"}
DEFAULT_CATEGORY: Final[Category] = "fact"
DEFAULT_CONFIDENCE: Final = 0.8  # a person has chosen the message, and can change the confidence
LEAST_CONFIDENCE: Final = 0.5  # a proposal below it does not help; spec 002
NOTHING_FOUND: Final = "nothing worth remembering was found: the form has the message itself"
PREFIX_CHARACTERS: Final = 50  # spec 000, "Deduplication by session and role"

# One encoder for all: making an encoder takes as long as encoding a value.
_canonical: Final = JSONEncoder(sort_keys=True, default=dict).encode


@final
@frozen
class MemoryDrafts:
    """Makes drafts of memories.  *embedder* has a guard: after a failure it is not called again for some time."""

    embedder: Embedder
    clock: Clock
    ids: Ids

    @Effect.gen
    async def draft(
        self,
        do: Do[DataValidationError],
        namespace: Namespace,
        memories: Sequence[NewMemory],
        *,
        dedup: DedupPolicy = "none",
        embed: bool = True,
        path: str = "$.memories[{}]",
    ) -> Drafted:
        """Make drafts of memories that have passed the rules, in order, and tell why drafts lack a vector.

        The embedder makes the missing vectors if *embed* is True.  *path* is the path of a memory in the input, with
        ``{}`` for its index, for problems of its vector.

        Fails with:
            DataValidationError: a given vector is not valid.
        """
        placed = _given(do, memories, path)
        missing = [index for index, given in enumerate(placed) if given is None] if embed else []
        # Not in a worker thread, because a user's source of ids may not be thread-safe; so not together with the rest.
        named = [memory.id or self.ids.next_id() for memory in memories]
        made = await do(embed_texts(self.embedder, [text_to_embed(memories[index]) for index in missing]))
        for index, one in zip(missing, made.placed, strict=True):
            placed[index] = one
        # One instant for all: memories of the same call do not supersede each other.
        now = self.clock.now()

        def drafted() -> Drafted:
            each = zip(memories, named, placed, strict=True)
            drafts = tuple([_draft(namespace, *one, now=now, dedup=dedup) for one in each])
            return Drafted(drafts, sum(draft.vector is None for draft in drafts), made.reason)

        return await long_or_short(do, [_said(memory) for memory in memories], drafted)


@final
@frozen
class Drafted:
    """Drafts that are ready to be stored.

    Attributes:
        unembedded: the number of drafts without a vector.
        reason: why drafts lack a vector; None when each has one.
    """

    drafts: tuple[MemoryDraft, ...]
    unembedded: int
    reason: str | None


def _said(memory: NewMemory) -> object:
    """Return the parts of a memory that may take long to process."""
    return memory.content if memory.value is None else (memory.content, memory.value)


def _draft(
    namespace: Namespace,
    memory: NewMemory,
    memory_id: str,
    placed: Placed | None,
    *,
    now: datetime,
    dedup: DedupPolicy,
) -> MemoryDraft:
    return MemoryDraft(
        id=memory_id,
        namespace=namespace,
        content=memory.content,
        key=memory.key,
        value=memory.value,
        category=memory.category,
        tags=tuple(memory.tags),
        confidence=float(memory.confidence),
        source=memory.source,
        role=memory.role,
        session_id=memory.session_id,
        memory_type=memory.memory_type or _type_by_default(memory),
        pinned=memory.pinned,
        provenance=memory.provenance,
        created_at=memory.created_at or now,
        attribute=memory.attribute,
        terms=terms_of(memory),
        dedup_key=dedup_key(memory, dedup),
        again=dedup == "none",
        space=None if placed is None else placed.space,
        vector=None if placed is None else placed.vector,
    )


def _given(do: Do[DataValidationError], memories: Sequence[NewMemory], path: str) -> list[Placed | None]:
    """Return the vectors that callers have given; refuse the batch when one of them is not a valid vector."""
    placed: list[Placed | None] = [None] * len(memories)
    problems: list[Problem] = []
    brought = [
        (index, given) for index, memory in enumerate(memories) if (given := memory.embedding) is not None
    ]
    table = unit_table([embedding for _, embedding in brought]) if brought else None
    for row, (index, embedding) in enumerate(brought):
        vector = (
            table[row]
            if table is not None
            else unit_vector(f"{path.format(index)}.embedding.vector", embedding)
        )
        if isinstance(vector, Problem):
            problems.append(vector)
        else:
            placed[index] = Placed(EmbeddingSpace(embedding.model, vector.size), vector)
    refuse(do, problems)
    return placed


def text_to_embed(memory: NewMemory | Memory) -> str:
    """Return the text of *memory* that is embedded: its key, if it has one, and its content.

    With the key, the bundled embedder ranks the right memory first for 21 of 28 English questions that use other words,
    instead of 18; for Chinese questions the result is the same.
    """
    return memory.content if memory.key is None else f"{words_of_key(memory.key)}: {memory.content}"


def words_of_key(key: str) -> str:
    """Return the words of a key that tell one memory from another: 职业 of 用户职业, because every memory is about the user.

    With 用户, a question for "the user" would find the name and the age before what it asks for.
    """
    return key.removeprefix("用户") or key


def dedup_key(memory: NewMemory, policy: DedupPolicy) -> bytes | None:
    """Return 32 bytes that are equal for memories that are duplicates under *policy*; None when none is a duplicate.

    The user and the app are not part of the key, because a repository compares only keys of the same user and app.
    """
    parts: tuple[Json, ...]
    match policy:
        case "none":
            return None
        case "first_50_characters":
            parts = (policy, memory.session_id, memory.role, memory.content[:PREFIX_CHARACTERS])
        case "exact":
            parts = (policy, memory.role, memory.key, memory.value, memory.content)
        case _:
            assert_never(policy)
    # JSON keeps the parts apart, which a separator might not, and None apart from the text "None".
    # Part by part, because a text alone is encoded faster than a nested value.
    text = ", ".join(["null" if part is None else _canonical(part) for part in parts])
    return sha256(f"[{text}]".encode()).digest()


def terms_of(memory: NewMemory) -> str:
    """Return the search terms of *memory*, including the words with which people ask for its attribute."""
    asked = "" if memory.attribute is None else asked_by(memory.attribute)
    return memory_terms(
        memory.content,
        key=None if memory.key is None else words_of_key(memory.key),
        value=memory.value,
        tags=(*memory.tags, asked) if asked else memory.tags,
    )


def _type_by_default(memory: NewMemory) -> MemoryType:
    # A statement of a tool or an assistant must not become long-term by itself: see MINJA and OWASP ASI06.
    return "long_term" if memory.source == "user_stated" and memory.role == "user" else "short_term"


def memory_terms(
    content: str, *, key: str | None = None, value: Json = None, tags: Sequence[str] = ()
) -> str:
    """Return the terms of a memory: the terms of its content, then further ones from its key, tags and value.

    >>> memory_terms("我用Python", key="语言", value="Python")
    '我用 我 用 python 语言 语 言'
    """
    terms = search_terms(content)
    if key is None and not tags and value is None:
        return terms
    said = terms.split()
    known = frozenset(said)
    labels = "\n".join([key or "", *tags, *_texts(value)])
    return " ".join([*said, *(term for term in search_terms(labels).split() if term not in known)])


def _texts(value: Json) -> Iterator[str]:
    """Yield every text and number in *value*, including the names of its fields, except ``AS_GIVEN``.

    It is iterative, because deeply nested JSON could otherwise exhaust the stack.
    """
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, Mapping):
            told = {name: part for name, part in here.items() if name != AS_GIVEN}
            waiting.extend(told.keys())
            waiting.extend(told.values())
        elif isinstance(here, Sequence):
            waiting.extend(here)
        elif isinstance(here, int | float) and not isinstance(here, bool):
            yield str(here)


@final
@frozen
class SaveForm:
    """The fields of the dialog.

    Attributes:
        status: ``loading``: the extraction is running, and the fields have their defaults.  ``extracted``: the fields
            come from a proposal.  ``default``: no proposal was good enough.
        hint: why the fields have their defaults, for a person to read; None otherwise.
    """

    status: Literal["loading", "extracted", "default"]
    key: str
    value: Json
    category: Category
    confidence: float
    hint: str | None = None


def opened_form(content: str, *, role: Speaker) -> SaveForm:
    """Return the form that is shown at first: it is filled with the message itself until ``fill_form`` has an answer.

    Args:
        content: the text of the message.
        role: who wrote the message.

    Returns:
        the form, with the status ``loading``.
    """
    return _by_default("loading", content, role, None)


def fill_form(memory: LongTermMemory, content: str, *, role: Speaker) -> Effect[SaveForm]:
    """Extract memories from *content* and return the form filled with the best proposal; it never fails.

    Args:
        memory: the service that extracts.
        content: the text of the message.
        role: who wrote the message.

    Returns:
        the form; with the defaults and a ``hint`` with the reason when the proposals are too weak or the extraction
        failed.
    """

    def fill(extraction: Extraction) -> SaveForm:
        best = extraction.best
        if best is None or best.confidence < LEAST_CONFIDENCE:
            return _by_default("default", content, role, NOTHING_FOUND)
        return SaveForm(
            "extracted", best.key, best.value, best.category, best.confidence, hint=extraction.note
        )

    def fall_back(error: RecallError) -> Effect[SaveForm]:
        return Effect.succeed(_by_default("default", content, role, str(error)))

    return memory.extract(content, role=role).map(fill).lash(fall_back)


def _by_default(
    status: Literal["loading", "default"], content: str, role: Speaker, hint: str | None
) -> SaveForm:
    return SaveForm(status, DEFAULT_KEYS[role], content, DEFAULT_CATEGORY, DEFAULT_CONFIDENCE, hint)
