"""``ServerDescription``: what the server runs on, as ``GET /settings`` tells it; and ``ServerFacts``, what wiring knows of it.

Keys, tokens and passwords have no place in either.
"""

from typing import Literal, TypeAlias, final

from attrs import frozen

from chatmemory.effect import Effect, Tag
from chatmemory.longterm.memories import Category
from chatmemory.longterm.save_form import (
    DEFAULT_CATEGORY,
    DEFAULT_CONFIDENCE,
    DEFAULT_KEYS,
    LEAST_CONFIDENCE,
)

Backend: TypeAlias = Literal["in_memory", "sqlite", "postgres"]


@final
@frozen
class StoreDescription:
    """Where memories are kept.

    Attributes:
        place: the file, or server and database; null: nowhere that lasts.  A client with a token of its own is told the
            name of the file, or of the database.
    """

    backend: Backend
    place: str | None


@final
@frozen(kw_only=True)
class ServerFacts:
    """What those who wired the server know of it.

    Attributes:
        version: of the package.
        extractor: what finds memories in a text: ``rules`` or ``skill``.
        skill_runner: what runs the skills.
        skill_problem: finds out, without running one, why no skill would run; None: they will.
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
    """Whose memories the client sees; *app* is "" for all of the user's."""

    user: str
    app: str


@final
@frozen
class EmbedderDescription:
    """What makes vectors of memories.

    Attributes:
        dim: of its vectors; null while it makes none.
        runs: whether it has just embedded a text.
    """

    model: str
    dim: int | None
    runs: bool


@final
@frozen
class SkillsDescription:
    """What writes summaries, and extracts if it is told to.

    Attributes:
        runner: `extractive` chooses sentences, offline; `openai_compatible` asks a model.
        runs: whether it can be reached.
    """

    runner: str
    runs: bool


@final
@frozen
class PastChatsDescription:
    """Histories of other tools.

    Attributes:
        enabled: whether the client may read them.
        indexed: whether there are any.
        place: the file of the index, without its folder for a client that may only look; null when the client may not
            read the index.
    """

    enabled: bool
    indexed: bool
    place: str | None


@final
@frozen
class DefaultKeys:
    """The key of what nothing was extracted from, by who said it (spec 002)."""

    user: str = DEFAULT_KEYS["user"]
    assistant: str = DEFAULT_KEYS["assistant"]


@final
@frozen
class SaveFormDescription:
    """What the form for saving a message is filled with when nothing good enough was extracted.

    Attributes:
        least_confidence: below it, what was extracted is no help.
    """

    default_keys: DefaultKeys = DefaultKeys()
    default_category: Category = DEFAULT_CATEGORY
    default_confidence: float = DEFAULT_CONFIDENCE
    least_confidence: float = LEAST_CONFIDENCE


@final
@frozen
class ServerWarning:
    """Something that a person should know.

    Attributes:
        level: `warning`: something is missing or will be lost.  `info`: it could be better.
        message: what it means, and what to do about it.
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
    """What the server runs on.

    Attributes:
        version: of the package.
        namespace: whose memories the client sees.
        read_only: whether the client may only look.
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
