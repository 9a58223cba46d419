"""``ServerDescription``: the answer of ``GET /settings``; ``ServerFacts``: what the wiring knows about the server.

Neither may contain keys, tokens or passwords.
"""

from typing import Literal, final

from attrs import frozen

from chatmemory.effect import Effect, Tag
from chatmemory.longterm.memories import Category
from chatmemory.longterm.saving.memory_drafts import (
    DEFAULT_CATEGORY,
    DEFAULT_CONFIDENCE,
    DEFAULT_KEYS,
    LEAST_CONFIDENCE,
)


@final
@frozen
class StoreDescription:
    """Where memories are kept.

    Attributes:
        place: the file, or server and database; null if nothing is kept when the server ends.  Only the main token sees
            the whole place; other tokens see the name of the file or of the database.
    """

    backend: Literal["in_memory", "sqlite", "postgres"]
    place: str | None


@final
@frozen(kw_only=True)
class ServerFacts:
    """What a client may learn about the server.

    Attributes:
        version: the version of the package.
        extractor: what finds memories in a text: ``rules`` or ``skill``.
        skill_runner: what runs the skills.
        skill_problem: returns why skills cannot run, without running one; None if they can.
        strategy: how a long history is kept short.
        past_chats_place: the file of the index.
        needs_token: whether clients need a token.
    """

    version: str
    store: StoreDescription
    extractor: str
    skill_runner: str
    skill_problem: Effect[str | None]
    strategy: str
    past_chats_place: str
    needs_token: bool


class ServerFactsTag(Tag[ServerFacts]):
    """The tag under which layers provide ``ServerFacts``."""


@final
@frozen
class AskedNamespace:
    """Whose memories the client sees; `app` is "" for all apps of the user."""

    user: str
    app: str


@final
@frozen
class EmbedderDescription:
    """The embedder, which computes the vectors of memories.

    Attributes:
        dim: the dimension of its vectors; null if it does not work.
        runs: whether it embedded a test text just now.
    """

    model: str
    dim: int | None
    runs: bool


@final
@frozen
class SkillsDescription:
    """The skills, which write summaries, and extract memories if configured to.

    Attributes:
        runner: `extractive` selects sentences, offline; `openai_compatible` calls a model.
        runs: whether it can be reached.
    """

    runner: str
    runs: bool


@final
@frozen
class PastChatsDescription:
    """The past chats: histories of other tools.

    Attributes:
        enabled: whether the client may read them.
        indexed: whether an index exists.
        place: the file of the index, without its folder unless the client has the main token; null if the client may
            not read the index.
    """

    enabled: bool
    indexed: bool
    place: str | None


@final
@frozen
class DefaultKeys:
    """The default keys for a saved message from which nothing was extracted, by its role (spec 002)."""

    user: str = DEFAULT_KEYS["user"]
    assistant: str = DEFAULT_KEYS["assistant"]


@final
@frozen
class SaveFormDescription:
    """Settings of the form for saving a message as a memory.

    Attributes:
        least_confidence: an extraction with less confidence is not used to fill the form.
    """

    default_keys: DefaultKeys = DefaultKeys()
    default_category: Category = DEFAULT_CATEGORY
    default_confidence: float = DEFAULT_CONFIDENCE
    least_confidence: float = LEAST_CONFIDENCE


@final
@frozen
class ServerWarning:
    """A warning for the operator.

    Attributes:
        level: `warning` if something is missing or data will be lost, `info` if something could be better.
        message: what the warning means, and what to do about it.
    """

    code: Literal[
        "NoEmbedder",
        "EmbedderFails",
        "SkillsFail",
        "NoSkillModel",
        "ExtractionByRules",
        "StoreInMemory",
        "PastChatsNotIndexed",
        "PastChatsFail",
    ]
    level: Literal["warning", "info"]
    message: str


@final
@frozen(kw_only=True)
class ServerDescription:
    """The parts and settings of the server.

    Attributes:
        version: the version of the package.
        namespace: whose memories the client sees.
        read_only: whether the client may only read.
        needs_token: whether clients need a token.
        extractor: what finds memories in a text.
        strategy: how a long history is kept short.
    """

    version: str
    namespace: AskedNamespace
    read_only: bool
    needs_token: bool
    store: StoreDescription
    embedder: EmbedderDescription
    extractor: str
    skills: SkillsDescription
    strategy: str
    past_chats: PastChatsDescription
    save_form: SaveFormDescription
    warnings: tuple[ServerWarning, ...]
