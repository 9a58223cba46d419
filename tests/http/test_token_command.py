"""``chatmemory token`` makes a token that the real server takes; what the server says of tokens when it starts."""

import re
import subprocess
import tomllib
from collections.abc import Generator
from datetime import date, timedelta
from pathlib import Path

import pytest

from chatmemory.effect.services.clock import SystemClock
from chatmemory.settings.server_settings import token_hash
from tests.for_each import for_each
from tests.forked import run_forked
from tests.http.served import CHATMEMORY, Server, started

PLAIN = "the token of a guest"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_forked(CHATMEMORY, "token", *arguments)


def made(*arguments: str) -> tuple[str, str]:
    """Return the token that the command makes, and the lines for the configuration."""
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.removesuffix("\n"), done.stderr


def today() -> date:
    return SystemClock().now().date()


def serving(folder: Path, configuration: str, *options: str) -> tuple[str | Path, ...]:
    file = folder / "chatmemory.toml"
    file.write_text(configuration, encoding="utf-8")
    stores = ("--store", folder / "memory.db", "--past-chats", folder / "past.db")
    return (CHATMEMORY, "serve", "--config", file, *stores, "--port", "0", *options)


def status(server: Server, token: str) -> int:
    answer = server.asked("GET /memories HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}")
    return answer.status


def test_the_token_is_printed_once_and_only_its_hash_is_for_the_configuration() -> None:
    token, lines = made("phone", "--user", "mei", "--days", "30")
    assert re.fullmatch(r"cm_[A-Za-z0-9_-]{43}", token)
    assert token not in lines
    table = tomllib.loads(lines)["server"]["tokens"]["phone"]
    assert table.pop("expires") in {today() + timedelta(days=30), today() + timedelta(days=29)}  # midnight
    assert table == {"hash": token_hash(token), "user": "mei"}
    table = tomllib.loads(made("phone")[1])["server"]["tokens"]["phone"]
    assert table["expires"] in {today() + timedelta(days=365), today() + timedelta(days=364)}
    assert table["user"] == "default"
    assert "expires" not in made("phone", "--days", "0")[1]


@for_each(("name", "user"), [("我的 phone", "小王"), ('a"b\\c.d', "m'e\"i\\"), ("1", "true")])
def test_names_are_written_as_toml_has_them(name: str, user: str) -> None:
    (table,) = tomllib.loads(made(name, "--user", user)[1])["server"]["tokens"].items()
    assert (table[0], table[1]["user"]) == (name, user)


@for_each(
    ("arguments", "told"),
    [
        ((), "Missing argument 'NAME'"),
        (("",), "the log shows this name"),
        (("a\nb",), "the log shows this name"),
        (("phone", "--user", ""), "--user"),
        (("phone", "--days", "-1"), "--days"),
        (("phone", "--days", "99999999"), "--days"),
    ],
)
def test_what_no_configuration_could_keep_is_refused(arguments: tuple[str, ...], told: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "hash" not in done.stderr


@pytest.fixture(scope="module")
def tokens() -> dict[str, tuple[str, str]]:
    return {name: made("phone", "--user", "mei", "--days", "30") for name in ("old", "new", "wrong")}


@pytest.fixture(scope="module")
def server(tokens: dict[str, tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server at all addresses whose client phone rolls from one token to another."""
    previous = tomllib.loads(tokens["old"][1])["server"]["tokens"]["phone"]
    configuration = (
        f'{tokens["new"][1]}previousHash = "{previous["hash"]}"\npreviousExpires = {previous["expires"]}\n'
        f'[server.tokens.guest]\ntoken = "{PLAIN}"\nuser = "mei"\n'
    )
    folder = tmp_path_factory.mktemp("tokens")
    with started(*serving(folder, configuration, "--host", "0.0.0.0")) as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        yield server


def test_the_server_takes_both_tokens_of_a_name_and_no_other_and_says_which_to_replace(
    server: Server, tokens: dict[str, tuple[str, str]]
) -> None:
    guess = "cm_guess"
    asked = [
        *(tokens[name][0] for name in ("old", "new", "wrong")),
        token_hash(tokens["new"][0]),
        PLAIN,
        guess,
    ]
    assert [status(server, token) for token in asked] == [200, 200, 401, 401, 200, 401]
    log = server.logged()
    for line in ("200 by phone", "200 by guest", r"401 by \(nobody\)"):
        assert re.search(rf"GET /memories {line} ", log), line
    assert re.search(r" wrong token from 127\.0\.0\.1: number \d+$", log, re.MULTILINE)
    assert not [token for token in asked if token in log]
    assert "server.tokens.guest.token is in plain text in the configuration" in log
    assert "'chatmemory token guest'" in log
    assert "the token of phone" not in log


def test_a_quiet_server_logs_wrong_tokens_all_the_same(tmp_path: Path) -> None:
    configuration = f'[server.tokens.phone]\nhash = "{token_hash("x")}"\nuser = "mei"\n'
    with started(*serving(tmp_path, configuration, "--quiet")) as server:
        assert status(server, "x") == 200
        assert status(server, "y") == 401
        code, log = server.terminated()
    assert code == 0
    assert " wrong token from 127.0.0.1: number 1\n" in log
    assert "GET /memories" not in log
