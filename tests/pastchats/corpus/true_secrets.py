"""Texts that hold a secret, one of each kind that people paste and tools print.

No secret stands here: each is drawn at run time by what the makers publish of its form.  ``{a36}`` is 36 letters and
digits, ``h`` hexadecimal digits, ``u`` capitals, ``l`` small letters, both with digits, ``w`` letters, digits, ``-`` and
``_``, ``b`` base64, ``s`` signs of a good password, ``d`` digits, ``c`` letters; ``{uuid}`` is a UUID.
"""

import json
import re
import string
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Final, final
from uuid import UUID

from attrs import frozen

LETTERS: Final = string.ascii_letters
ALPHABETS: Final = {
    "a": LETTERS + string.digits,
    "h": "0123456789abcdef",
    "u": string.ascii_uppercase + "234567",
    "l": string.ascii_lowercase + string.digits,
    "w": LETTERS + string.digits + "-_",
    "b": LETTERS + string.digits + "+/",
    "s": LETTERS + string.digits + "!#&*+-=?@^_~",
    "d": string.digits,
    "c": LETTERS,
}
PART: Final = re.compile(r"\{(?:(?P<of>[ahulwbsdc])(?P<count>\d+)|uuid)\}")

# Around a token, in turn: the form alone must do.
AROUND: Final = (
    "{}",
    "here is mine, it works: {} (do not share)",
    "export THING={}\n",
    '{{"value": "{}", "next": 1}}',
    "+    x = '{}'  # moved to the environment later",
    "我的是{}，先用着",
    "| prod | {} | 2026 |",
    "curl https://api.service.io/v1/me?x={}",
)

DATA: Final = Path(__file__).parents[2] / "data"
TOKENS: Final = (DATA / "secret_tokens.txt").read_text()
"""Each kind, and its forms."""

PLACED: Final[list[tuple[str, str]]] = json.loads((DATA / "secret_places.json").read_text())
"""Kind and text of each secret that its place tells; the secret is between bars."""


@final
@frozen
class TrueText:
    """A text with a *secret*."""

    kind: str
    text: str
    secret: str


def true_texts(seed: int = 20) -> list[TrueText]:
    """Return the texts; another *seed* draws other secrets."""
    chance = Random(seed)
    return [*_tokens(chance), *_placed(chance)]


def _tokens(chance: Random) -> Iterator[TrueText]:
    around = cycle(AROUND)
    for kinds in TOKENS.strip().replace("\n", " ¦ ").split(" ¦ "):
        kind, _, forms = kinds.partition(": ")
        for form in forms.split():
            secret = drawn(form, chance)
            yield TrueText(kind, next(around).format(secret), _core(secret))


def _core(token: str) -> str:
    """Return the part of *token* that must not be kept: of a link, the last."""
    return token.rsplit("sig=", 1)[-1].rsplit("/", 1)[-1] if token.startswith("https://") else token


def _placed(chance: Random) -> Iterator[TrueText]:
    for kind, form in PLACED:
        before, secret, after = (drawn(part, chance) for part in form.split("|", 2))
        yield TrueText(kind, before + secret + after, secret)


def drawn(form: str, chance: Random) -> str:
    """Return *form* with something drawn in the place of each of its parts."""

    def draw(part: re.Match[str]) -> str:
        if part["of"] is None:
            return str(UUID(int=chance.getrandbits(128), version=4))
        return "".join(chance.choices(ALPHABETS[part["of"]], k=int(part["count"])))

    return PART.sub(draw, form)
