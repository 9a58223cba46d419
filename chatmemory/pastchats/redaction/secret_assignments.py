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
from chatmemory.text.stop_words import CJK_RUN


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
    *(_Name(word, "password", 6, _PASSWORD_BITS) for word in ("pass", "pw", "psk", "密码", "密碼", "口令")),
    *(_Name(word, "secret", 8, _PASSWORD_BITS) for word in ("secret", "密钥", "密鑰")),
    *(_Name(word, "token", 16, _TOKEN_BITS) for word in ("token", "令牌")),
    _Name("_pat", "token", 20, _TOKEN_BITS),
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

_SEPARATORS: Final = (
    r"\s{0,8}(?:=>|:=|==?|:|：)\s{0,8}",
    r">\s?",  # <password>...
    r"\s?(?:[是为為]|(?:改|设|設|换|換)[成为為]了?)\s?",
    r"\s(?:is|was)(?::|\snow)?\s",
    r",?\s{1,40}[\"']?value[\"']?\s{0,3}[:=]\s{0,3}",  # name: DB_PASSWORD, value: ...
    r"\s(?=[\"'`])",
    r"(?P<cjk>(?<=[码碼钥鑰令牌]) ?(?=[!-~]{6}))",  # 密码abc12345
    r"(?P<space> )",  # the password abc1..
)
_EQUALS: Final = (
    rf"""\\?["'`*]{{0,3}}(?:{"|".join(_SEPARATORS)})(?:\\?["'`]{{1,3}}|[rbuf]{{1,2}}["'])?"""
    r"""(?P<secret>[^\s"'`\\,;<>(){}\[\]，。；、]{6,512})"""
)
# "--- PASS: TestAdd2" names no password: ``pass`` does after an underscore, and before a quoted value.
_SHORT_FORM: Final = r"""(?<=[_-])pass|(?-i:(?<![A-Za-z])|(?=Pa))pass(?=\\?["']?\s{0,3}[:=]\s{0,3}\\?["'`])"""
# Positions are those of the words, so the patterns begin there.
_ASSIGNMENT: Final = re.compile(
    rf"(?:passw(?:or)?d|passwd|passphrase|{_SHORT_FORM}|pwd|(?<![a-z])(?:pw|psk)|secret|(?:_auth)?token|_pat"
    r"|密[码碼钥鑰]|口令|令牌)"
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
# ``DB_PASSWORD=correcthorse``: a variable, so its value is no word of a sentence.
_VARIABLE: Final = re.compile(r"(?:PASSWORD|PASSWD|PASS|PWD)=")
# What no word of a sentence has: three changes between letters and digits, or a sign beside a digit.
_LEAST_APART: Final = 8  # characters
_LEAST_CHANGES: Final = 3
_LETTER_TO_DIGIT: Final = re.compile(r"(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]")
_HAS_SIGN: Final = re.compile(r"(?=[^0-9]*\d)[^@/]*[!#$%^*+~][^@/]*\Z")
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
                    if _is_secret(match, name)
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
            and _is_secret(match, kind)
            and (kind is _API or _OF_MACHINES.match(match["secret"]) is not None)
        ]
    return found


def _kind_of_key(text: str, at: int) -> _Name | None:
    """Return the kind of secret that the word ``key`` at *at* names, by the text before it; None for a word that names none."""
    before = text[max(0, at - _LONGEST_KIND) : at]
    if _OF_AN_API.search(before) is not None:
        return _API
    return _ANY if before.endswith("_") and _NO_SECRET.search(before) is None else None


def _is_secret(match: re.Match[str], name: _Name) -> bool:
    """Return whether what *match* found behind the *name* is a secret, and not a word, an example or code."""
    value: str = match["secret"]
    # No password is in Chinese: of "密码是abc12345别告诉别人" the middle counts, of "口令：见附件第2页" the "2".
    without_cjk = re.sub(CJK_RUN, "", value)
    return (
        len(without_cjk) >= name.least
        and (is_mixed(without_cjk) or (name.name == "password" and _VARIABLE.match(match[0]) is not None))
        and surprise(value) >= name.least_bits
        and not is_placeholder(value)
        and not is_code(value)
        and not is_term(value)
        and (name.may_be_uuid or UUID.match(value) is None)
        and (name.word != "_pat" or _OF_MACHINES.match(value) is not None)
        and _is_apart(match, name)
    )


def _is_apart(match: re.Match[str], name: _Name) -> bool:
    """Return whether the secret of *match* has a sign before it, or differs from the words of a sentence."""
    if match["cjk"] is None and match["space"] is None:
        return True
    value = match["secret"].rstrip(".!?:")
    if name.name in ("secret", "token") or len(value) < _LEAST_APART or is_word(value):
        return False
    changes = len(_LETTER_TO_DIGIT.findall(value))
    return match["cjk"] is not None or changes >= _LEAST_CHANGES or _HAS_SIGN.match(value) is not None
