"""Tests whether a value without a known form may be a secret: it is random, and not an example or a word."""

import re
from math import log2
from typing import Final

PLACEHOLDER: Final = re.compile(
    r"\A[$%<{*]|\$[{(]|\A%\w+%\Z|\*{3}|\.\.\.|…|x{4}|redacted|example|your|placeholder|change_?me|dummy|process\.env|environ"
    r"|getenv|undefined|abcdefgh|1234567890a",
    re.IGNORECASE,
)
_WORDS_FOR_A_SECRET: Final = frozenset(
    ("pass", "password", "passwd", "pwd", "secret", "token", "key", "user", "pw", "port", "root", "admin", "guest",
     "test", "postgres", "mysql", "redis", "minio", "minioadmin", "rabbitmq")
)  # fmt: skip
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
# Names joined by dots, paths, calls, and names of methods: values that code and prose have at such a place.
_CODE: Final = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+\Z|\.{0,2}/|[\w-]+/[\w.-]+\.\w{1,5}\Z|(?:https?|file)://"
    r"|[A-Za-z]+_[A-Za-z_]+\Z|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z|[a-z]+(?:-[a-z]+){2,}\Z"
)
_TERM: Final = re.compile(
    r"(?:base-?(?:16|32|58|62|64)|sha-?\d|md5|utf-?\d|oauth-?\d|bcrypt|argon2|pbkdf2|aes-?\d|[rehp]s(?:256|384|512)|x509"
    r"|ed25519|hmac|jwt|k8s|i18n|http2?|ipv\d|v\d|\d+[ -]?(?:bit|byte|char|digit|second|minute|hour|day|week|month|year)s?)"
    r"(?![A-Za-z0-9]*\d[A-Za-z]*\d)",
    re.IGNORECASE,
)
_NUMBERED_WORD: Final = re.compile(r"[A-Za-z]?[a-z]+\d{0,4}[.!?:]?\Z")


def is_mixed(value: str) -> bool:
    """Return whether *value* has letters and other characters: letters alone are a word, digits alone a number."""
    has_letter = any(character.isalpha() for character in value)
    return has_letter and any(not character.isalpha() and character not in "._-:/" for character in value)


def is_placeholder(value: str) -> bool:
    """Return whether *value* is a placeholder for a secret."""
    return value.casefold() in _WORDS_FOR_A_SECRET or PLACEHOLDER.search(value) is not None


def is_term(value: str) -> bool:
    """Return whether *value* is a technical term: ``base64-encoded``, ``sha256``, ``16-byte``."""
    return _TERM.match(value) is not None


def is_word(value: str) -> bool:
    """Return whether *value* is a word, perhaps with a number: ``authentication2026``."""
    return _NUMBERED_WORD.match(value) is not None


def is_code(value: str) -> bool:
    """Return whether *value* is a name, a path or a call."""
    return _CODE.match(value.rstrip(".:!?")) is not None


def surprise(value: str) -> float:
    """Return the entropy of the characters of *value*, in bits per character."""
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * log2(share) for share in shares)
