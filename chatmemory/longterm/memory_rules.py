"""The rules for the arguments of long-term memory, which are the same for every backend.

Each function returns the problems that it finds, with their paths; ``input/rules.py`` has the rules for texts, ids and
instants.  The numbers of a vector are checked in ``embedding/unit_vectors.py``, where numpy makes a row of them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import Embedding
from chatmemory.errors import Problem
from chatmemory.input.choices import Unchanged
from chatmemory.input.rules import (
    MAX_ID_CHARACTERS,
    choice_problem,
    flag_problem,
    flag_problems,
    id_problem,
    id_problems,
    instant_problem,
    metadata_problems,
    problem_at,
    sequence_problems,
    text_problem,
)
from chatmemory.longterm.extraction.memory_extractor import MemoryUpdate, StatedFact
from chatmemory.longterm.memories import (
    NO_PROVENANCE,
    Category,
    MemoryChanges,
    MemoryRole,
    MemoryType,
    NewMemory,
    Provenance,
    Source,
)

MAX_TAGS: Final = 64
MAX_FACTS: Final = 64  # in one answer of a model: each of them causes a recall before it is saved
MAX_CONTAINED_CHARACTERS: Final = 1000  # a paragraph; a caller that has a longer text knows the memory's id


def namespace_problems(namespace: object) -> list[Problem]:
    """Return every broken rule of a namespace."""
    if not isinstance(namespace, Namespace):
        return [Problem("$.namespace", f"expected a Namespace, not {type(namespace).__name__}")]
    app = text_problem(namespace.app, max_characters=MAX_ID_CHARACTERS)
    return id_problems("$.namespace.user", namespace.user) + (
        [] if app is None else [Problem("$.namespace.app", app)]
    )


def memories_problems(memories: object) -> list[Problem]:
    """Return every broken rule of a batch, each at ``$.memories[index].field``."""
    return sequence_problems("$.memories", memories, memory_problems, of="NewMemory")


def memory_problems(path: str, memory: object) -> list[Problem]:
    """Return every broken rule of one memory."""
    if not isinstance(memory, NewMemory):
        kind = type(memory).__name__
        cure = "; chatmemory.input.structure makes one of JSON" if isinstance(memory, Mapping) else ""
        return [Problem(path, f"expected NewMemory, not {kind}{cure}")]
    found = [
        ("id", None if memory.id is None else id_problem(memory.id)),
        ("content", _content_problem(memory.content)),
        ("key", None if memory.key is None else id_problem(memory.key)),
        ("category", choice_problem(memory.category, Category, or_none=True)),
        ("confidence", _confidence_problem(memory.confidence)),
        ("source", choice_problem(memory.source, Source)),
        ("role", choice_problem(memory.role, MemoryRole)),
        ("session_id", None if memory.session_id is None else id_problem(memory.session_id)),
        ("memory_type", choice_problem(memory.memory_type, MemoryType, or_none=True)),
        ("pinned", flag_problem(memory.pinned)),
        ("attribute", None if memory.attribute is None else id_problem(memory.attribute)),
        ("created_at", None if memory.created_at is None else instant_problem(memory.created_at)),
    ]
    problems = [Problem(f"{path}.{name}", problem) for name, problem in found if problem is not None]
    if memory.value is not None:
        problems += value_problems(f"{path}.value", memory.value)
    if memory.tags != ():
        problems += tags_problems(f"{path}.tags", memory.tags)
    if memory.provenance is not NO_PROVENANCE:
        problems += _provenance_problems(f"{path}.provenance", memory.provenance)
    if memory.embedding is not None:
        problems += _embedding_problems(f"{path}.embedding", memory.embedding)
    return problems


def changes_problems(changes: object) -> list[Problem]:
    """Return every broken rule of a correction."""
    if not isinstance(changes, MemoryChanges):
        return [Problem("$.changes", f"expected MemoryChanges, not {type(changes).__name__}")]
    found: list[Problem] = []

    def check(name: str, problem: str | None) -> None:
        if problem is not None:
            found.append(Problem(f"$.changes.{name}", problem))

    if not isinstance(changes.content, Unchanged):
        check("content", _content_problem(changes.content))
    if not isinstance(changes.key, Unchanged) and changes.key is not None:
        check("key", id_problem(changes.key))
    if not isinstance(changes.category, Unchanged):
        check("category", choice_problem(changes.category, Category, or_none=True))
    if not isinstance(changes.confidence, Unchanged):
        check("confidence", _confidence_problem(changes.confidence))
    if not isinstance(changes.value, Unchanged):
        found += value_problems("$.changes.value", changes.value)
    if not isinstance(changes.tags, Unchanged):
        found += tags_problems("$.changes.tags", changes.tags)
    return found


def update_problems(update: object) -> list[Problem]:
    """Return every broken rule of the facts that a model gave with its answer."""
    if not isinstance(update, MemoryUpdate):
        return [Problem("$.update", f"expected MemoryUpdate, not {type(update).__name__}")]
    problems = flag_problems("$.update.should_store", update.should_store)
    problems += sequence_problems("$.update.memories", update.memories, _fact_problems, of="StatedFact")
    if not problems and len(update.memories) > MAX_FACTS:
        problems.append(
            Problem("$.update.memories", f"{len(update.memories)} facts are more than {MAX_FACTS}")
        )
    return problems


def content_problems(path: str, content: object) -> list[Problem]:
    """Return the problem of the content of a memory, if any."""
    return problem_at(path, _content_problem(content))


def contained_problems(path: str, text: object) -> list[Problem]:
    """Return the problem of a text that listed memories must contain, if any."""
    if text == "":
        return [Problem(path, "expected at least one character; None lists memories whatever they contain")]
    return problem_at(path, text_problem(text, max_characters=MAX_CONTAINED_CHARACTERS))


def ids_problems(path: str, ids: object) -> list[Problem]:
    """Return every broken rule of a sequence of ids."""
    return sequence_problems(path, ids, id_problems)


def value_problems(path: str, value: object) -> list[Problem]:
    """Return a problem for each part of a value that JSON does not preserve exactly."""
    if value is None:  # the value of nearly every memory
        return []
    return [
        Problem(problem.path.replace(f"{path}.value", path, 1), problem.message)
        for problem in metadata_problems(path, {"value": value})
    ]


def tags_problems(path: str, tags: object) -> list[Problem]:
    """Return every broken rule of tags: at most 64, each valid as an id, none twice."""
    if tags == ():  # the tags of nearly every memory
        return []
    if isinstance(tags, (str, bytes)) or not isinstance(tags, Sequence):
        return [Problem(path, f"expected a sequence of text, not {type(tags).__name__}")]
    given = cast("Sequence[object]", tags)
    if len(given) > MAX_TAGS:
        return [Problem(path, f"{len(given)} tags are more than {MAX_TAGS}")]
    problems = [
        Problem(f"{path}[{index}]", problem)
        for index, tag in enumerate(given)
        if (problem := id_problem(tag))
    ]
    if not problems and len(set(given)) < len(given):
        problems.append(Problem(path, "a tag is given twice: remove one of them"))
    return problems


def _content_problem(content: object) -> str | None:
    if isinstance(content, str) and not content.strip():
        return "expected at least one character that is not a space"
    return text_problem(content)


def _confidence_problem(confidence: object) -> str | None:
    if isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1:
        return None
    return f"expected a number from 0 to 1, not {confidence!r}"


def _provenance_problems(path: str, provenance: object) -> list[Problem]:
    if not isinstance(provenance, Provenance):
        return [Problem(path, f"expected Provenance, not {type(provenance).__name__}")]
    problems = ids_problems(f"{path}.message_ids", provenance.message_ids)
    for name, text in (("extractor", provenance.extractor), ("path", provenance.path)):
        if text is not None and (problem := text_problem(text)) is not None:
            problems.append(Problem(f"{path}.{name}", problem))
    return problems


def _fact_problems(path: str, fact: object) -> list[Problem]:
    if not isinstance(fact, StatedFact):
        return [Problem(path, f"expected StatedFact, not {type(fact).__name__}")]
    found = [
        ("key", id_problem(fact.key)),
        ("category", choice_problem(fact.category, Category)),
        ("confidence", _confidence_problem(fact.confidence)),
    ]
    problems = [Problem(f"{path}.{name}", problem) for name, problem in found if problem is not None]
    return problems + value_problems(f"{path}.value", fact.value)


def _embedding_problems(path: str, embedding: object) -> list[Problem]:
    if not isinstance(embedding, Embedding):
        return [Problem(path, f"expected Embedding, not {type(embedding).__name__}")]
    problem = id_problem(embedding.model)
    return [] if problem is None else [Problem(f"{path}.model", problem)]


def folded(text: str) -> str:
    """Return *text* with ``A`` to ``Z`` in lower case; all else stays unchanged, like ``lower`` in the stores."""
    return text.encode().lower().decode()  # for bytes, lower changes only ASCII letters
