"""``assigned_secrets``: finds secrets by their name: ``password=...``, ``"api_key": "..."``, "the password is ...".

A name is not enough: ``password: string``, ``token = get_token()`` and ``secret: ${SECRET}`` hold no secret.  A value
is removed only when it looks random.
"""

import re
from typing import Final, final

from attrs import frozen

from chatmemory.pastchats.redaction.secret_places import (
    UUID,
    is_code,
    is_mixed,
    is_placeholder,
    is_term,
    is_word,
    matches,
    surprise,
)


@final
@frozen
class _Name:
    """A word in lower case that names a secret; a secret has *least* characters or more, and *least_bits* of entropy in each.

    *may_be_uuid*: API keys of several makers are UUIDs; a UUID named token is more likely the id of a request.
    """

    word: str
    name: str
    least: int
    least_bits: float
    may_be_uuid: bool = False


_PASSWORD_BITS: Final = 2.2  # bits per character: "hunter2!" has 3, "aaaa1111" has 1
_TOKEN_BITS: Final = 3.0  # 16 random hexadecimal digits have 3.3 on average
_NAMES: Final = (
    *(
        _Name(word, "password", 6, _PASSWORD_BITS)
        for word in ("passw", "pwd", "passphrase", "密码", "密碼", "口令")
    ),
    *(_Name(word, "secret", 8, _PASSWORD_BITS) for word in ("secret", "密钥", "密鑰")),
    *(_Name(word, "token", 16, _TOKEN_BITS) for word in ("token", "令牌")),
    _Name("_authtoken", "token", 16, _TOKEN_BITS, may_be_uuid=True),
)

_SCHEMES: Final = (("bearer ", "bearer token"), ("basic ", "basic authorization"))
# A part that several words share is searched before any of them.
_PARTS: Final = ("pass", "密", "令", "token")


def _by_part() -> tuple[tuple[str, tuple[_Name, ...]], ...]:
    parts: dict[str, list[_Name]] = {}
    for name in _NAMES:
        part = next((part for part in _PARTS if part in name.word), name.word)
        parts.setdefault(part, []).append(name)
    return tuple((part, tuple(names)) for part, names in parts.items())


_BY_PART: Final = _by_part()

_EQUALS: Final = (
    r"""\\?["'`*]{0,3}(?:\s{0,8}(?:=>|:=|==?|:|：)\s{0,8}|>\s?|\s?[是为為]\s?|\s(?:is|was)(?::|\snow)?\s|\s(?=["'`]))"""
    r"""(?:\\?["'`]{1,3}|[rbuf]{1,2}["'])?(?P<secret>[^\s"'`\\,;<>(){}\[\]，。；、]{6,512})"""
)
# Positions are those of the words, so the patterns begin there.
_ASSIGNMENT: Final = re.compile(
    r"(?:passw(?:or)?d|passwd|pwd|passphrase|secret|(?:_auth)?token|密[码碼钥鑰]|口令|令牌)"
    rf"(?:[_-]?(?:access[_-]?)?(?:key(?:[_-]?base)?|value|secret|token|string))?{_EQUALS}",
    re.IGNORECASE,
)
_KEY: Final = re.compile(rf"key(?:[_-]?(?:value|string))?{_EQUALS}", re.IGNORECASE)
_API: Final = _Name("key", "api key", 12, _TOKEN_BITS, may_be_uuid=True)
_OF_AN_API: Final = re.compile(
    r"(?:api|access|account|auth|private|encryption|master|signing)[ _-]?\Z", re.IGNORECASE
)
_BEARER: Final = re.compile(r"(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,2048})", re.IGNORECASE)
# ``ALGOLIA_ADMIN_KEY=...``: a key of any kind, if only a machine would write its value.
_ANY: Final = _Name("key", "key", 24, 3.2)
_OF_MACHINES: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}\Z")
_NO_SECRET: Final = re.compile(
    r"(?:public|cache|primary|foreign|sort|partition|idempotency|object|storage|session|row|dedup|routing|message|group|lookup|hash)_\Z",
    re.IGNORECASE,
)
_LONGEST_KIND: Final = 24  # characters before ``key`` that name its owner


def assigned_secrets(text: str, lowered: str) -> list[tuple[int, int, str]]:
    """Return start, end and kind of each secret in *text*; *lowered* is *text* in lower case."""
    found: list[tuple[int, int, str]] = []
    for part, names in _BY_PART:
        if part in lowered:
            for name in names:
                found += [
                    (*match.span("secret"), name.name)
                    for match in matches(_ASSIGNMENT, text, lowered, name.word)
                    if _is_secret(match["secret"], name)
                ]
    for word, scheme in _SCHEMES:
        found += [
            (*match.span("secret"), scheme)
            for match in matches(_BEARER, text, lowered, word)
            if surprise(match["secret"]) >= _TOKEN_BITS
            and is_mixed(match["secret"])
            and not is_placeholder(match["secret"])
            and not is_word(match["secret"])
        ]
    if "key" in lowered:
        found += [
            (*match.span("secret"), kind.name)
            for match in matches(_KEY, text, lowered, "key")
            if (kind := _kind_of_key(text, match.start())) is not None
            and _is_secret(match["secret"], kind)
            and (kind is _API or _OF_MACHINES.match(match["secret"]) is not None)
        ]
    return found


def _kind_of_key(text: str, at: int) -> _Name | None:
    """Return the kind of secret that the word ``key`` at *at* names, by the text before it; None for a word that names none."""
    before = text[max(0, at - _LONGEST_KIND) : at]
    if _OF_AN_API.search(before) is not None:
        return _API
    return _ANY if before.endswith("_") and _NO_SECRET.search(before) is None else None


def _is_secret(value: str, name: _Name) -> bool:
    return (
        len(value) >= name.least
        and is_mixed(value)
        and surprise(value) >= name.least_bits
        and not is_placeholder(value)
        and not is_code(value)
        and not is_term(value)
        and (name.may_be_uuid or UUID.match(value) is None)
    )
