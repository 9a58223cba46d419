"""Secrets that only their place gives away: ``password=...``, ``"api_key": "..."``, ``Bearer ...``, ``curl -u me:...``.

A name is not enough: ``password: string``, ``token = get_token()`` and ``secret: ${SECRET}`` hold none.  What is taken
out must look like something that nobody would remember.
"""

import re
from collections.abc import Iterator
from math import log2
from typing import Final

from attrs import frozen


@frozen(slots=False)
class _Place:
    """A word after which a secret may stand, as it is in lower case.

    Attributes:
        least: characters of a secret in such a place.
        least_bits: of surprise per character.
    """

    word: str
    name: str
    least: int
    least_bits: float


_PASSWORD_BITS: Final = 2.2  # bits per character: "hunter2!" has 3, "aaaa1111" has 1
_TOKEN_BITS: Final = 3.0  # 16 random hexadecimal digits have 3.3 on average
_PLACES: Final = (
    *(
        _Place(word, "password", 6, _PASSWORD_BITS)
        for word in ("passw", "pwd", "passphrase", "密码", "密碼", "口令")
    ),
    *(_Place(word, "secret", 8, _PASSWORD_BITS) for word in ("secret", "密钥", "密鑰")),
    *(_Place(word, "token", 16, _TOKEN_BITS) for word in ("token", "令牌")),
    *(
        _Place(word, "api key", 12, _TOKEN_BITS)
        for word in (
            "api_key",
            "apikey",
            "api-key",
            "api key",
            "access_key",
            "accesskey",
            "access-key",
            "account_key",
            "accountkey",
            "auth_key",
            "authkey",
            "private_key",
            "encryption_key",
        )
    ),
)

_SCHEMES: Final = (("bearer ", "bearer token"), ("basic ", "basic authorization"))
# A part that several words share is looked for before any of them.
_PARTS: Final = ("key", "pass", "密", "令")


def _by_part() -> tuple[tuple[str, tuple[_Place, ...]], ...]:
    parts: dict[str, list[_Place]] = {}
    for place in _PLACES:
        part = next((part for part in _PARTS if part in place.word), place.word)
        parts.setdefault(part, []).append(place)
    return tuple((part, tuple(places)) for part, places in parts.items())


_BY_PART: Final = _by_part()

# Positions are those of the words, so the pattern begins right there.
_ASSIGNMENT: Final = re.compile(
    r"(?:passw(?:or)?d|passwd|pwd|passphrase|secret|token|(?:api|access|account|auth|private|encryption)[ _-]?key|密[码碼钥鑰]|口令|令牌)"
    r"(?:[_-]?(?:access[_-]?)?(?:key|value|secret|token|string))?"
    r"""\\?["'`*]{0,3}(?:\s{0,8}(?:=>|:=|==?|:|：)\s{0,8}|\s?[是为為]\s?|\s(?=["'`]))"""
    r"""(?:\\?["'`]{1,3}|[rbuf]{1,2}["'])?(?P<secret>[^\s"'`\\,;<>(){}\[\]，。；、]{6,512})""",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,2048})", re.IGNORECASE)
_USER_INFO: Final = re.compile(r"""://[^\s/:@"'<>`]{0,128}:(?P<secret>[^\s/@"'<>`]{3,256})@[A-Za-z0-9\[_]""")
_CURL_USER: Final = re.compile(
    r"""curl\s(?:[^\n|;\\]|\\[\s\S]){0,400}?(?<=\s)(?:-u\s?|--user[ =])["']?[^\s:"'`]{1,128}:(?P<secret>[^\s"'`]{3,256})"""
)

_PLACEHOLDER: Final = re.compile(
    r"[$%<>*{}]|\.\.\.|…|x{4}|redacted|example|your|placeholder|changeme|dummy|process\.env|environ|getenv|undefined",
    re.IGNORECASE,
)
_WORDS_FOR_A_SECRET: Final = frozenset(
    ("pass", "password", "passwd", "pwd", "secret", "token", "key", "user", "pw", "port")
)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
# Names joined by dots, paths, and things called: what code puts in such a place.
_CODE: Final = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+\Z|\.{0,2}/|https?://|[A-Za-z]+_[A-Za-z_]+\Z"
)


def assigned_secrets(text: str, lowered: str) -> list[tuple[int, int, str]]:
    """Return start, end and name of each secret in *text*, *lowered* being the same in lower case."""
    found: list[tuple[int, int, str]] = []
    for part, places in _BY_PART:
        if part in lowered:
            for place in places:
                found += [
                    (*match.span("secret"), place.name)
                    for match in _matches(_ASSIGNMENT, text, lowered, place.word)
                    if _is_secret(match["secret"], place)
                ]
    for word, name in _SCHEMES:
        found += [
            (*match.span("secret"), name)
            for match in _matches(_BEARER, text, lowered, word)
            if _surprise(match["secret"]) >= _TOKEN_BITS and _is_mixed(match["secret"])
        ]
    found += [
        (*match.span("secret"), "password")
        for match in _matches(_USER_INFO, text, text, "://")
        if not _is_placeholder(match["secret"])
    ]
    found += [
        (*match.span("secret"), "password")
        for match in _matches(_CURL_USER, text, text, "curl")
        if not _is_placeholder(match["secret"])
    ]
    return found


def _matches(pattern: re.Pattern[str], text: str, lowered: str, word: str) -> Iterator[re.Match[str]]:
    at = lowered.find(word)
    while at >= 0:
        match = pattern.match(text, at)
        if match is not None:
            yield match
        at = lowered.find(word, at + 1)


def _is_secret(value: str, place: _Place) -> bool:
    return (
        len(value) >= place.least
        and _is_mixed(value)
        and _surprise(value) >= place.least_bits
        and not _is_placeholder(value)
        and _UUID.match(value) is None
        and _CODE.match(value) is None
    )


def _is_mixed(value: str) -> bool:
    """Letters alone are a word, digits alone a number."""
    has_letter = any(character.isalpha() for character in value)
    return has_letter and any(not character.isalpha() and character not in "._-:/" for character in value)


def _is_placeholder(value: str) -> bool:
    return value.casefold() in _WORDS_FOR_A_SECRET or _PLACEHOLDER.search(value) is not None


def _surprise(value: str) -> float:
    """Bits per character, by how often each occurs."""
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * log2(share) for share in shares)
