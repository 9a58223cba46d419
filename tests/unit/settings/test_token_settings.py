"""Tokens in the configuration: their hashes, when they end, and every way to write them wrongly."""

import re
import tomllib
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

from jsonschema import Draft202012Validator

from chatmemory import Failure, Settings, Success
from chatmemory.programs.json_schema import json_schema
from chatmemory.settings.server_settings import (
    AcceptedToken,
    ServerSettings,
    TokenSettings,
    new_token,
    token_hash,
)
from chatmemory_layers.configuration import read_settings
from chatmemory_layers.server.token_notices import token_notices
from tests.for_each import for_each

TOKEN = "a-token-of-the-phone"
HASH = token_hash(TOKEN)
OTHER = token_hash("another-token")
NOON = datetime(2026, 12, 31, 12, tzinfo=UTC)


def read(folder: Path, *lines: str, table: str = "[server.tokens.phone]") -> ServerSettings | str:
    """Return the settings of a server with the token of *lines*, or what is wrong with them."""
    file = folder / "chatmemory.toml"
    user = "" if "user" in table else 'user = "mei"'
    file.write_text("\n".join([table, user, *lines]), encoding="utf-8")
    match read_settings(file, environment={}):
        case Success(settings):
            return settings.server
        case Failure(error):
            return str(error)


def test_a_token_is_of_256_random_bits_and_its_hash_is_sha256_as_every_tool_prints_it() -> None:
    one, other = new_token(), new_token()
    assert one != other
    assert one.startswith("cm_")
    assert len(one) == len("cm_") + 43  # 32 bytes in base64
    assert token_hash("abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_plain_token_and_its_hash_are_accepted_alike(tmp_path: Path) -> None:
    for line in (f'token = "{TOKEN}"', f'hash = "{HASH}"'):
        server = read(tmp_path, line)
        assert isinstance(server, ServerSettings)
        assert server.needs_token
        assert server.tokens["phone"].accepted == (AcceptedToken(HASH),)
        assert not [secret for secret in (TOKEN, HASH) if secret in repr(server)]


def test_two_tokens_of_one_name_end_each_at_its_own_time(tmp_path: Path) -> None:
    new = (f'hash = "{HASH}"', "expires = 2028-01-01")
    server = read(tmp_path, *new, f'previousHash = "{OTHER}"', "previousExpires = 2027-01-01T12:00:00Z")
    assert isinstance(server, ServerSettings)
    assert server.tokens["phone"].accepted == (
        AcceptedToken(HASH, date(2028, 1, 1)),
        AcceptedToken(OTHER, datetime(2027, 1, 1, 12, tzinfo=UTC)),
    )


NOON_IN_SHANGHAI = datetime(2027, 1, 1, 12, tzinfo=timezone(timedelta(hours=8)))


@for_each(
    ("expires", "last"),
    [
        (date(2027, 1, 1), datetime(2027, 1, 1, 23, 59, 59, tzinfo=UTC)),  # a day, whole
        (datetime(2027, 1, 1, 12, tzinfo=UTC), datetime(2027, 1, 1, 11, 59, 59, tzinfo=UTC)),
        (NOON_IN_SHANGHAI, datetime(2027, 1, 1, 3, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_token_is_valid_until_it_expires(expires: date, last: datetime) -> None:
    accepted = AcceptedToken(HASH, expires)
    assert not accepted.is_expired(last)
    assert accepted.is_expired(last + timedelta(seconds=1))
    assert not AcceptedToken(HASH, date.max).is_expired(datetime.max.replace(tzinfo=UTC) - timedelta(days=1))
    assert not AcceptedToken(HASH).is_expired(datetime.max.replace(tzinfo=UTC))


@for_each(
    ("lines", "problem"),
    [
        ((), "server.tokens.phone: hash: one is needed"),
        (('hash = ""',), "server.tokens.phone.hash: hash: expected 'sha256:' and 64"),
        ((f'hash = "{TOKEN}"',), "server.tokens.phone.hash: hash: expected 'sha256:' and 64"),
        ((f'hash = "{HASH.upper()}"',), "server.tokens.phone.hash: hash: expected 'sha256:' and 64"),
        ((f'hash = "{HASH}0"',), "server.tokens.phone.hash: hash: expected 'sha256:' and 64"),
        ((f'hash = "{HASH}"', f'token = "{TOKEN}"'), "no token beside it"),
        (('token = "hunter2"',), "server.tokens.phone.token: Length of 'token' must be >= 16"),
        (('token = ""',), "server.tokens.phone.token: Length of 'token' must be >= 16"),
        ((f'hash = "{HASH}"', f'previousHash = "{HASH}"'), "two tokens are the same"),
        ((f'hash = "{HASH}"', 'previousHash = "sha256:"'), "server.tokens.phone.previousHash: "),
        ((f'hash = "{HASH}"', "previousExpires = 2027-01-01"), "there is no previousHash"),
        ((f'hash = "{HASH}"', "expires = 2027"), "server.tokens.phone.expires: expected a date"),
        ((f'hash = "{HASH}"', 'expires = "soon"'), "server.tokens.phone.expires: expected a date"),
        ((f'hash = "{HASH}"', "expires = 12:00:00"), "server.tokens.phone.expires: expected a date"),
        ((f'hash = "{HASH}"', "expires = 2027-02-30"), "chatmemory.toml: "),
        ((f'hash = "{HASH}"', 'app = "a\\u0000"'), "server.tokens.phone.app: app: "),
        ((f'hash = "{HASH}"', "expires = 2027-01-01T12:00:00"), "no time zone in 2027-01-01T12:00:00"),
    ],
)
def test_what_is_wrong_with_a_token_is_said(tmp_path: Path, lines: tuple[str, ...], problem: str) -> None:
    said = read(tmp_path, *lines)
    assert isinstance(said, str)
    assert problem in said
    assert not [secret for secret in (TOKEN, HASH, "hunter2") if secret in said]


@for_each("name", ['""', '" "', '"a\\nb"', '"\\u202Eenohp"', '"(server.token)"'])
def test_a_name_that_would_confuse_the_log_is_refused(tmp_path: Path, name: str) -> None:
    said = read(tmp_path, f'hash = "{HASH}"', table=f"[server.tokens.{name}]")
    assert isinstance(said, str)
    assert "the log shows this name" in said
    assert said.isprintable()


def test_a_hash_and_a_plain_token_of_two_names_are_told_to_be_the_same(tmp_path: Path) -> None:
    for other in ('[server.tokens.tablet]\nuser = "mei"', "[server]"):
        told = str(read(tmp_path, f'hash = "{HASH}"\n{other}\ntoken = "{TOKEN}"'))
        assert "two tokens are the same" in told
        assert TOKEN not in told


@for_each(
    ("lines", "is_right"),
    [
        (f'hash = "{HASH}"\nexpires = "2027-01-01"', True),
        (f'hash = "{HASH}"\npreviousHash = "{OTHER}"\npreviousExpires = "2027-01-01T12:00:00Z"', True),
        (f'token = "{TOKEN}"', True),
        ("", False),
        ('hash = "sha256:"', False),
        (f'hash = "{HASH}"\ntoken = "{TOKEN}"', False),
        (f'hash = "{HASH}"\npreviousExpires = "2027-01-01"', False),
    ],
)
def test_the_schema_says_the_same(tmp_path: Path, lines: str, is_right: bool) -> None:
    text = f'[server.tokens.phone]\nuser = "mei"\n{lines}'
    assert Draft202012Validator(json_schema(Settings)).is_valid(tomllib.loads(text)) is is_right
    assert isinstance(read(tmp_path, lines), ServerSettings) is is_right


def test_the_tables_of_the_documentation_are_right(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guides" / "tokens.md").read_text(encoding="utf-8")
    tables = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(tables) == 2
    for table in tables:
        server = read(tmp_path, table=table)
        assert isinstance(server, ServerSettings), server


def notices(**token: object) -> list[str]:
    settings = ServerSettings(tokens={"phone": TokenSettings(user="mei", **token)})
    return list(token_notices(settings, NOON))


def test_a_start_names_tokens_that_end_and_is_quiet_about_those_that_are_in_order() -> None:
    assert notices(hash=HASH) == []
    assert notices(hash=HASH, expires=date(2027, 1, 8), previous_hash=OTHER) == []
    (soon,) = notices(hash=HASH, expires=date(2027, 1, 6))
    assert soon == "the token of phone expires soon (2027-01-06): 'chatmemory token phone' makes another"
    (over,) = notices(hash=HASH, expires=date(2026, 12, 30))
    assert over == "the token of phone has expired (2026-12-30): 'chatmemory token phone' makes another"
    (previous,) = notices(hash=HASH, previous_hash=OTHER, previous_expires=NOON)
    assert previous.startswith("the previous token of phone has expired")


def test_a_start_names_tokens_that_stand_there_as_they_are_sent() -> None:
    (named,) = notices(token=TOKEN)
    assert named.startswith("server.tokens.phone.token is in plain text in the configuration")
    assert "'chatmemory token phone'" in named
    (main,) = token_notices(ServerSettings(token=TOKEN), NOON)
    assert main.startswith("server.token is in plain text in the configuration")
    assert TOKEN not in named + main
