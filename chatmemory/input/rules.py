"""The rules for input: one set for every backend, checked before anything is written.

Each function returns problems with their paths instead of raising, so that a caller learns of all of them at once.
``clean_text`` replaces the characters that cannot be stored; ``joined_surrogates`` makes whole ones of halves.
A cursor (``cursor_of``, ``read_cursor``) is the place of the last entry of a page as text, which a caller sends back.
The errors are imported when there is a problem: a recall of past chats must be fast.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from chatmemory import errors

if TYPE_CHECKING:
    from chatmemory.effect import Do
    from chatmemory.errors import DataValidationError, Problem

MAX_ID_CHARACTERS: Final = 512
MAX_CONTENT_CHARACTERS: Final = 16 * 1024 * 1024  # a quarter of what the tightest backend could store
MAX_METADATA_DEPTH: Final = 100  # JSON readers recurse; a tenth of Python's own limit is deep enough for data
MAX_INTEGER_BITS: Final = 1024  # beyond it, other readers of the same JSON see infinity
MAX_LIMIT: Final = 2**31 - 1

_FORBIDDEN: Final = re.compile("[\0\ud800-\udfff]")

NOT_A_CURSOR: Final = "not a cursor: give the value of next from an earlier page"

CURE_OF_TEXT: Final = "clean_text() replaces it"
"""How the problem of a text that cannot be stored ends."""


def refuse(do: Do[DataValidationError], *problems: Sequence[Problem]) -> None:
    """Fail with all problems, if there are any."""
    if any(problems):
        do.fail(errors.DataValidationError(tuple(problem for some in problems for problem in some)))


def clean_text(text: str) -> str:
    """Return *text* with every NUL and lone surrogate replaced by U+FFFD, so that it can be stored."""
    return _FORBIDDEN.sub("\ufffd", text)


def joined_surrogates(text: str) -> str:
    """Return *text* with each pair of surrogates, which a stream wrote separately, as the one character that they are."""
    if is_encodable(text):
        return text
    pair = r"[\ud800-\udbff][\udc00-\udfff]"
    return re.sub(pair, lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def text_problem(text: object, *, max_characters: int = MAX_CONTENT_CHARACTERS) -> str | None:
    """Return why *text* cannot be stored exactly; None when it can."""
    if not isinstance(text, str):
        return f"expected text, not {type(text).__name__}"
    if len(text) > max_characters:
        return f"{len(text)} characters are more than {max_characters}"
    is_storable = "\0" not in text and (text.isascii() or is_encodable(text))
    found = None if is_storable else _FORBIDDEN.search(text)
    if found is None:
        return None
    name = "NUL" if found.group() == "\0" else "lone surrogate"
    return f"{name} at character {found.start()}: {CURE_OF_TEXT}"


def flag_problem(value: object) -> str | None:
    """Return why *value* is not a bool; None when it is."""
    return None if isinstance(value, bool) else f"expected True or False, not {value!r}"


def id_problem(text: object) -> str | None:
    """Return why *text* cannot be an id; None when it can."""
    return (
        "an id needs at least one character"
        if text == ""
        else text_problem(text, max_characters=MAX_ID_CHARACTERS)
    )


def problem_at(path: str, problem: str | None) -> list[Problem]:
    """Return *problem* at *path* as a list; an empty list for None."""
    return [] if problem is None else [errors.Problem(path, problem)]


def text_problems(path: str, text: object, *, max_characters: int = MAX_CONTENT_CHARACTERS) -> list[Problem]:
    """Return the problem of a text argument, if any."""
    return problem_at(path, text_problem(text, max_characters=max_characters))


def any_text_problems(path: str, text: object) -> list[Problem]:
    """Return the problem of an argument that may be any text, because it is only compared and never stored."""
    return problem_at(path, None if isinstance(text, str) else f"expected text, not {type(text).__name__}")


def flag_problems(path: str, value: object) -> list[Problem]:
    """Return the problem of an argument that must be a bool, if any."""
    return problem_at(path, flag_problem(value))


def id_problems(path: str, text: object, *, or_none: bool = False) -> list[Problem]:
    """Return the problem of an id argument, if any."""
    return problem_at(path, None if text is None and or_none else id_problem(text))


def sequence_problems(
    path: str, given: object, member_problems: Callable[[str, object], list[Problem]], *, of: str = "text"
) -> list[Problem]:
    """Return why *given* is not a sequence, or the problems of its members; *of*: what the members are."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        return [errors.Problem(path, f"expected a sequence of {of}, not {type(given).__name__}")]
    return [
        problem
        for index, member in enumerate(cast("Sequence[object]", given))
        for problem in member_problems(f"{path}[{index}]", member)
    ]


def choice_problem(value: object, choices: Any, *, or_none: bool = False) -> str | None:
    """Return why *value* is not one of the words of the Literal *choices*; None when it is."""
    words: tuple[str, ...] = choices.__args__  # what get_args returns, in a tenth of its time
    if value in words or (or_none and value is None):
        return None
    return f"unknown: {value!r}; one of {', '.join(words)}"


def choice_problems(path: str, value: object, choices: Any, *, or_none: bool = False) -> list[Problem]:
    """Return the problem of an argument that must be a word of the Literal *choices*, if any."""
    return problem_at(path, choice_problem(value, choices, or_none=or_none))


def limit_problems(path: str, limit: object, *, least: int = 0, most: int = MAX_LIMIT) -> list[Problem]:
    """Return the problem of a limit argument: an integer from *least* to *most*."""
    if isinstance(limit, int) and not isinstance(limit, bool) and least <= limit <= most:
        return []
    return [errors.Problem(path, f"expected an integer from {least} to {most}, not {limit!r}")]


def integer_problems(path: str, number: object, *, least: int | None = None) -> list[Problem]:
    """Return the problem of an argument that must be an integer; *least*: the smallest one, None: any."""
    if isinstance(number, int) and not isinstance(number, bool) and (least is None or number >= least):
        return []
    bound = "" if least is None else f" of at least {least}"
    return [errors.Problem(path, f"expected an integer{bound}, not {number!r}")]


def instant_problem(instant: object) -> str | None:
    """Return why *instant* is not a point in time; None when it is."""
    if not isinstance(instant, datetime):
        return f"expected a datetime, not {type(instant).__name__}"
    if instant.utcoffset() is None:
        return "a datetime without time zone names no instant: add tzinfo, datetime.UTC for example"
    try:
        instant.astimezone(UTC)
    except OverflowError:
        return "outside the years 1 to 9999 in UTC"
    return None


def instant_problems(path: str, instant: object) -> list[Problem]:
    """Return the problem of an optional point in time, if any."""
    return problem_at(path, None if instant is None else instant_problem(instant))


def metadata_problems(path: str, metadata: object) -> list[Problem]:
    """Return a problem for every place in *metadata* that JSON cannot store exactly.

    It uses no recursion, because deeply nested metadata would exhaust the stack.
    """
    if not isinstance(metadata, Mapping):
        return [errors.Problem(path, f"expected a JSON object, not {type(metadata).__name__}")]
    problems: list[Problem] = []
    waiting: list[tuple[str, object, int]] = [(path, metadata, 0)]
    while waiting:
        here, value, depth = waiting.pop()
        if isinstance(value, Mapping | list | tuple):
            container = cast("Mapping[object, object] | Sequence[object]", value)
            if depth >= MAX_METADATA_DEPTH:
                problems.append(errors.Problem(path, f"nested deeper than {MAX_METADATA_DEPTH} levels"))
                break
            members = _members(here, container, problems)
            waiting.extend((place, member, depth + 1) for place, member in members)
        elif (problem := _scalar_problem(value)) is not None:
            problems.append(errors.Problem(here, problem))
    return problems


def _members(
    path: str, container: Mapping[object, object] | Sequence[object], problems: list[Problem]
) -> list[tuple[str, object]]:
    if not isinstance(container, Mapping):
        return [(f"{path}[{index}]", member) for index, member in enumerate(container)]
    members: list[tuple[str, object]] = []
    for key, member in container.items():
        problem = text_problem(key)
        if problem is not None:
            problems.append(errors.Problem(path, f"key {key!r}: {problem}"))
        else:
            members.append((f"{path}.{key}", member))
    return members


def _scalar_problem(value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return text_problem(value)
    if isinstance(value, int):
        return (
            None
            if value.bit_length() <= MAX_INTEGER_BITS
            else f"an integer of more than {MAX_INTEGER_BITS} bits"
        )
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is no JSON number"
    return f"{type(value).__name__} is no JSON value"


def is_encodable(text: str) -> bool:
    """Return whether *text* can be encoded in UTF-8; lone surrogates cannot.  It is fast for valid text."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


Place: TypeAlias = tuple[datetime, str]
"""The instant by which an entry is listed, and its id, which distinguishes entries of the same instant."""


def cursor_of(place: Place) -> str:
    """Return the cursor of the page after *place*."""
    instant, id_ = place
    return f"{instant.isoformat()} {id_}"


def read_cursor(cursor: object) -> tuple[Place | None, list[Problem]]:
    """Return the place in *cursor*, None without a cursor, and the problems of it."""
    if cursor is None:
        return None, []
    text, _, id_ = cursor.partition(" ") if isinstance(cursor, str) else ("", "", "")
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None or instant_problem(instant) is not None or id_problem(id_) is not None:
        return None, [errors.Problem("$.after", NOT_A_CURSOR)]
    return (instant, id_), []
