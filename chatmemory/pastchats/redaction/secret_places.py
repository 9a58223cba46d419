"""``placed_secrets``: finds secrets where tools write them: in options of commands, ``netrc``, cookies, links, JSON Web Keys.

``is_mixed``, ``is_placeholder``, ``is_term``, ``is_word``, ``is_code`` and ``surprise`` test whether a value may be a
secret: it is random, and not an example or a word.
"""

import re
from collections.abc import Iterator
from math import log2
from typing import Final, final

from attrs import frozen

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
    r"(?:base-?(?:16|32|58|62|64)|sha-?\d{1,3}|md5|utf-?\d|oauth-?\d|bcrypt|argon2|pbkdf2|aes-?\d|[rehp]s(?:256|384|512)|x509"
    r"|ed25519|hmac|jwt|k8s|i18n|http2?|ipv\d|v\d|\d+[ -]?(?:bit|byte|char|digit|second|minute|hour|day|week|month|year)s?)"
    r"(?![A-Za-z0-9]*\d[A-Za-z]*\d)",
    re.IGNORECASE,
)
_NUMBERED_WORD: Final = re.compile(r"[A-Za-z]?[a-z]+\d{0,4}[.!?:]?\Z")
_COOKIE_BITS: Final = 3.0  # bits per character
_LEAST_COOKIE: Final = 16  # characters

_QUOTE: Final = r"""["'`]?"""
_WITHIN_COMMAND: Final = r"(?:[^\n|;&\\]|\\[\s\S]){0,400}?(?<=\s)"


@final
@frozen
class _Place:
    """A word in lower case, and the pattern that begins with it and captures its secret.

    It is compiled when a text contains the word: most texts contain none.
    """

    word: str
    name: str
    pattern: str


# Behind their names: the four groups of an app password, the words of a wallet.
_OF_AN_APP: Final = r"[^\w\n]{0,4}(?:is|was|是)?[^\w\n]{0,4}(?P<secret>[a-z]{4}(?:[ -]?[a-z]{4}){3})(?![\w-])"
_OF_A_WALLET: Final = (
    r"[^a-z\n]{0,8}(?:is|was)?[^a-z\n]{0,4}(?P<secret>(?-i:(?:[a-z]{3,8} ){11,23}[a-z]{3,8}))"
)
# Commands, and their option for a password up to where it begins.
_COMMANDS: Final = (
    ("curl", rf"(?:-u\s?|--user[ =]){_QUOTE}[^\s:\"'`]{{1,128}}:"),
    ("http", rf"(?:-a\s|--auth[ =]){_QUOTE}[^\s:\"'`]{{1,128}}:"),
    ("mysql", rf"-p{_QUOTE}(?!-)"),
    ("mongo", rf"-p\s?{_QUOTE}"),
    ("sqlcmd", rf"-P\s?{_QUOTE}"),
    ("sshpass", rf"-p\s*{_QUOTE}"),
    ("redis-cli", rf"-a\s+{_QUOTE}"),
    ("login", rf"-p\s+{_QUOTE}"),
    ("zip", rf"-P\s+{_QUOTE}"),
    ("7z", rf"-p{_QUOTE}"),
    ("ldap", rf"-w\s+{_QUOTE}"),
    ("lftp", rf"-u\s+{_QUOTE}[^\s,\"'`]{{1,128}},"),
    ("smbclient", rf"-U\s+{_QUOTE}[^\s%\"'`]{{1,128}}%"),
    ("htpasswd", rf"-\w*b\w*\s+\S{{1,256}}\s+\S{{1,128}}\s+{_QUOTE}"),
)
_OF_COMMANDS: Final = tuple(
    _Place(word, "password", rf"{word}[\w-]*\s{_WITHIN_COMMAND}(?-i:{option})(?P<secret>[^\s\"'`]{{3,256}})")
    for word, option in _COMMANDS
)
_WITH_PASS: Final = (
    _Place(
        "--pass",
        "password",
        rf"--pass(?:word|wd|phrase)?[ =]{_QUOTE}(?P<secret>(?=[^\s\"'`]*\d)(?!-)[^\s\"'`]{{4,256}})",
    ),
    _Place("-pass", "password", rf"-pass(?:in|out)?\s+{_QUOTE}pass:(?P<secret>[^\s\"'`]{{4,128}})"),
    _Place("requirepass", "password", rf"requirepass\s+{_QUOTE}(?P<secret>[^\s\"'`]{{6,256}})"),  # redis.conf
    _Place("login", "password", r"login\s+\S{1,128}\s+password\s+(?P<secret>[^\s\"'`]{4,256})"),  # netrc
    _Place(
        "user",
        "password",
        r"""user(?:name)?["']?\s?[:=]\s?["']?[^\s"',;]{1,64}["']?[\s,;/|&]{1,4}["']?pass["']?\s?[:=]\s?["']?"""
        r"""(?P<secret>[^\s"',;&]{4,128})""",
    ),
    _Place("app password", "app password", rf"app password{_OF_AN_APP}"),
    _Place("app-specific password", "app password", rf"app-specific password{_OF_AN_APP}"),
)
_ELSEWHERE: Final = (
    _Place(
        "echo",
        "password",
        rf"echo\s+(?:-n\s+)?{_QUOTE}(?:[\w.-]{{1,64}}:)?(?P<secret>[^\s\"'`|]{{4,256}}){_QUOTE}\s*\|\s*"
        r"(?:(?:sudo\s+)?chpasswd|sudo\s+-S|[^\n|]{1,200}--password-stdin)",
    ),
    _Place("freerdp", "password", rf"freerdp\s{_WITHIN_COMMAND}/p:{_QUOTE}(?P<secret>[^\s\"'`]{{4,256}})"),
    _Place("masterauth", "password", rf"masterauth\s+{_QUOTE}(?P<secret>[^\s\"'`]{{6,256}})"),  # redis.conf
    _Place(
        "identified",
        "password",
        r"""identified\s+by\s+(?:password\s+)?["'](?P<secret>(?=[^"'\s]*\d)[^"'\s]{4,128})["']""",
    ),
    _Place("应用密码", "app password", rf"应用密码{_OF_AN_APP}"),
    _Place("授权码", "app password", rf"授权码{_OF_AN_APP}"),
    _Place("phrase", "seed phrase", rf"(?:(?<=seed )|(?<=recovery ))phrase{_OF_A_WALLET}"),
    _Place("mnemonic", "seed phrase", rf"mnemonic{_OF_A_WALLET}"),
    _Place("助记词", "seed phrase", rf"助记词{_OF_A_WALLET}"),
    _Place("助記詞", "seed phrase", rf"助記詞{_OF_A_WALLET}"),
    _Place("sig=", "signature of a link", r"(?<=[?&;])sig=(?P<secret>[A-Za-z0-9%+/_-]{30,256}={0,2})"),
    _Place(
        "authorization",
        "token",
        rf"authorization{_QUOTE}\s*[:=]\s*{_QUOTE}(?:token|api-?key|key|ssws|splunk)\s+(?:token=)?{_QUOTE}(?P<secret>[^\s\"'`]{{16,512}})",
    ),
)
_BY_PART: Final = (("-", _OF_COMMANDS), ("pass", _WITH_PASS), ("", _ELSEWHERE))
"""Places, and a string that each text with one of them contains: few texts do, so few words are searched."""

# ``postgres://shop:word@db``: a password that equals its user's name is an example in the documentation of the
# database.
_USER_INFO: Final = re.compile(
    r"""://(?P<user>[^\s/:@"'<>`]{0,128}):(?P<secret>[^\s/@"'<>`]{3,256})@[A-Za-z0-9\[_]"""
)
_COOKIES: Final = re.compile(
    r"""cookie["'`]?\s*[:=]\s*["'`]?(?P<pairs>[^\s=;"'`]{1,128}=[^\n"'`]{16,4096})""", re.IGNORECASE
)
_SESSION: Final = re.compile(
    r"(?:sess(?:ion)?id|(?<=_)session|(?<=connect.)sid)=(?P<secret>[^\s;,\"'`<>&]{16,1024})", re.IGNORECASE
)
_PAIR: Final = re.compile(
    r"(?P<name>[^\s=;,]{1,128})=(?P<secret>[^\s;,]{16,4096})",
)
_OF_A_SESSION: Final = re.compile(
    r"sess|sid|auth|token|jwt|login|remember|secret|csrf|xsrf|clearance|user|key|__host-|__secure-",
    re.IGNORECASE,
)
_OF_A_KEY: Final = re.compile(
    r"""\\?["'](?:d|p|q|dp|dq|qi|k)\\?["']\s*:\s*\\?["'](?P<secret>[A-Za-z0-9_-]{22,2048})"""
)


def placed_secrets(text: str, lowered: str) -> list[tuple[int, int, str]]:
    """Return start, end and kind of each secret in *text*; *lowered* is *text* in lower case."""
    found: list[tuple[int, int, str]] = []
    for part, places in _BY_PART:
        if part not in lowered:
            continue
        for place in places:
            if place.word in lowered:
                pattern = re.compile(place.pattern, re.IGNORECASE)
                found += [
                    (*match.span("secret"), place.name)
                    for match in matches(pattern, text, lowered, place.word)
                    if not is_placeholder(match["secret"])
                ]
    if "://" in text:
        found += [
            (*match.span("secret"), "password")
            for match in matches(_USER_INFO, text, text, "://")
            if not is_placeholder(match["secret"]) and match["secret"] != match["user"]
        ]
    if "cookie" in lowered:
        found += _cookies(text, lowered)
    for word in ("sess", "sid="):
        found += [
            (*match.span("secret"), "session cookie")
            for match in matches(_SESSION, text, lowered, word)
            if _is_session(match["secret"])
        ]
    if '"kty' in text or "'kty" in text:
        found += [(*match.span("secret"), "private key") for match in _OF_A_KEY.finditer(text)]
    return found


def _cookies(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    for match in matches(_COOKIES, text, lowered, "cookie"):
        for pair in _PAIR.finditer(text, match.start("pairs"), match.end("pairs")):
            if _OF_A_SESSION.search(pair["name"]) is not None and _is_session(pair["secret"]):
                yield *pair.span("secret"), "session cookie"


def _is_session(value: str) -> bool:
    return (
        len(value) >= _LEAST_COOKIE
        and is_mixed(value)
        and surprise(value) >= _COOKIE_BITS
        and not is_placeholder(value.replace("%", ""))
    )


def matches(pattern: re.Pattern[str], text: str, lowered: str, word: str) -> Iterator[re.Match[str]]:
    """Yield the matches of *pattern* that begin at an occurrence of *word* in *lowered*."""
    at = lowered.find(word)
    while at >= 0:
        match = pattern.match(text, at)
        if match is not None:
            yield match
        at = lowered.find(word, at + 1)


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
