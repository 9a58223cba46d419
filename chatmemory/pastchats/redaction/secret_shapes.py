"""Secrets that are recognized by their form alone, at any place.

Most are long runs of letters and digits.  To find those runs takes the time of a few passes over the text, and each
run is compared only with the forms that its first characters allow, so a text without runs, as most texts are, is
done at once.
"""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.pastchats.redaction.token_prefixes import TOKENS, Token

Secret: TypeAlias = tuple[int, int, str]
"""The start and the end of a secret, and its kind."""

LEAST_RUN: Final = 16  # the least characters of a run
_KEY: Final = 2  # the number of characters by which a prefix is looked up

_WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_IS_WORD: Final = bytes(chr(byte) in _WORD for byte in range(256))
_RUN: Final = b"\1" * LEAST_RUN

_EXAMPLE: Final = re.compile(
    r"example|placeholder|redacted|changeme|dummy|your[-_]|x{5}|abcdefgh|1234567890a|(.)\1{7}",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"(?:[a-z0-9]{1,10}[-_]+)+[a-z0-9]{1,10}\Z")
_NO_DIGIT: Final = re.compile(r"[^0-9]+\Z")


@final
@frozen
class _Inner:
    """A token whose last part is a run, and whose first part identifies it.

    Attributes:
        before: the character right before the run.
        literal: a text that is also before the run.
        back: the largest number of characters between the start of the token and the run.
    """

    name: str
    before: str
    literal: str
    back: int
    pattern: re.Pattern[str]


_INNER: Final = (
    _Inner(
        "terraform token", ".", ".atlasv1.", 25, re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}")
    ),
    _Inner("doppler token", ".", "dp.st.", 45, re.compile(r"dp\.st\.[a-z0-9_-]+\.[A-Za-z0-9]{40,}")),
    _Inner(
        "vault token", ".", "s.", 2, re.compile(r"(?<![\w.])s\.(?=\w*\d)(?=\w*[A-Z])[A-Za-z0-9]{24}(?!\w)")
    ),
    _Inner("azure secret", "~", "Q~", 8, re.compile(r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,}")),
    _Inner(
        "telegram token",
        ":",
        ":",
        14,
        re.compile(r"(?<![A-Za-z0-9_-])(?:bot)?(?P<secret>\d{8,10}:AA[A-Za-z0-9_-]{32,})"),
    ),
    _Inner(
        "salesforce token", "!", "00", 17, re.compile(r"00[A-Za-z0-9]{13}!(?P<secret>[A-Za-z0-9._-]{60,})")
    ),
    _Inner(
        "slack webhook",
        "/",
        "hooks.slack.com/",
        60,
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{20,})"),
    ),
    _Inner(
        "discord webhook",
        "/",
        "/api/webhooks/",
        45,
        re.compile(r"/api/webhooks/\d+/(?P<secret>[A-Za-z0-9_-]{30,})"),
    ),
    _Inner(
        "teams webhook",
        "/",
        "/IncomingWebhook/",
        20,
        re.compile(r"/IncomingWebhook/(?P<secret>[A-Fa-f0-9]{32}/[A-Fa-f0-9-]{36}[\w/-]*)"),
    ),
    _Inner(
        "signature of a link",
        "=",
        "-Signature=",
        20,
        re.compile(r"X-(?:Amz|Goog)-Signature=(?P<secret>[A-Fa-f0-9]{64,})"),
    ),
)
_BY_LENGTH: Final = {
    50: ("mailgun key", re.compile(r"[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}\Z")),
    36: ("mailchimp key", re.compile(r"[a-f0-9]{32}-us\d\Z")),
    37: ("mailchimp key", re.compile(r"[a-f0-9]{32}-us\d\d\Z")),
}

_KEY_LINES: Final = r"(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{20,})+"
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----(?:BEGIN|END)).){1,40000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    rf"|{_KEY_LINES})",  # the end is missing: only lines that look like a key
    re.DOTALL,
)
_KEY_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{20}")
# The other half of a pair: only next to an access key is a run of forty such characters more than base64.
_AWS_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9/+=])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
)


def _by_beginning() -> tuple[dict[str, list[tuple[str, Token]]], dict[str, Token]]:
    """Return the tokens by the first characters of a run, and by the prefix right before a run."""
    starts: dict[str, list[tuple[str, Token]]] = {}
    leads: dict[str, Token] = {}
    for token in TOKENS:
        for prefix in token.prefixes:
            if prefix[-1] in _WORD:
                starts.setdefault(prefix[:_KEY], []).append((prefix, token))
            else:
                leads[prefix] = token
    for found in starts.values():
        found.sort(key=lambda one: -len(one[0]))  # ``sk-ant-`` before ``sk-``
    return starts, leads


_STARTS, _LEADS = _by_beginning()
_LEAD_WORDS: Final = tuple(_LEADS)
_LONGEST_LEAD: Final = max(map(len, _LEADS))
_BEFORE: Final = frozenset(lead[-1] for lead in _LEADS) | {inner.before for inner in _INNER}


def shaped_secrets(text: str) -> list[Secret]:
    """Return start, end and kind of each secret in *text* that is recognized by its form."""
    found: list[Secret] = []
    for start, end in _runs(text):
        found += _beginning(text, start, end)
        if start and text[start - 1] in _BEFORE:
            found += _led(text, start)
        whole = _BY_LENGTH.get(end - start)
        if whole is not None and whole[1].match(text, start, end) is not None:
            found.append((start, end, whole[0]))
    if "PRIVATE KEY" in text:
        found += [
            (*match.span(), "private key")
            for match in _PRIVATE_KEY.finditer(text)
            if _KEY_LINE.search(text, *match.span()) is not None
        ]
    if any(name == "aws access key" for _, _, name in found):
        found += [(*match.span(), "aws secret key") for match in _AWS_SECRET.finditer(text)]
    return found


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each long run of letters, digits, ``_`` and ``-``."""
    kinds = text.encode("latin-1", "replace").translate(_IS_WORD)  # a byte for each character
    at = kinds.find(_RUN)
    while at >= 0:
        end = kinds.find(b"\0", at + LEAST_RUN)
        end = len(kinds) if end < 0 else end
        yield at, end
        at = kinds.find(_RUN, end)


def _beginning(text: str, start: int, end: int) -> Iterator[Secret]:
    for prefix, token in _STARTS.get(text[start : start + _KEY], ()):
        if text.startswith(prefix, start):
            at = _end_of(token, text, start, start + len(prefix), end)
            if at:
                yield start, at, token.name
                return


def _led(text: str, start: int) -> Iterator[Secret]:
    if text.endswith(_LEAD_WORDS, max(0, start - _LONGEST_LEAD), start):
        for lead, token in _LEADS.items():
            begin = start - len(lead)
            if text.startswith(lead, begin) and begin >= 0 and not (begin and text[begin - 1] in _WORD):
                at = _end_of(token, text, begin, start, None)
                if at:
                    yield begin, at, token.name
                    return
    for inner in _INNER:
        earliest = max(0, start - inner.back)
        if inner.before == text[start - 1] and inner.literal in text[earliest:start]:
            match = next(filter(None, (inner.pattern.match(text, at) for at in range(earliest, start))), None)
            if match is not None and _EXAMPLE.search(match[0]) is None:
                yield *match.span("secret" if inner.pattern.groups else 0), inner.name


def _end_of(token: Token, text: str, start: int, after: int, run_end: int | None) -> int:
    """Return the end of the token that begins at *start* and whose prefix ends at *after*; 0 for no token."""
    match = token.of.match(text, after)
    if match is None or match.end() - after < token.least:
        return 0
    end = match.end()
    if token.most is not None and (end - after > token.most or (run_end is not None and end < run_end)):
        return 0
    whole = text[start:end]
    if token.needs_digit and (_NO_DIGIT.match(whole, after - start) is not None or _WORDS.match(whole)):
        return 0
    return 0 if _EXAMPLE.search(whole) is not None else end
