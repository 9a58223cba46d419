"""``chatmemory serve`` itself refuses what its guards refuse, and whoever bears no token that it knows."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.forked import run_forked
from tests.http.served import CHATMEMORY, Answer, Server, started

TOKEN = "geheimnis-geheimnis"
HOST = "Host: localhost"
JSON = "Content-Type: application/json"
WHOLE = ("Content-Length: 2", "Idempotency-Key: k")


def settings(folder: Path, *, token: str = "") -> tuple[str | Path, ...]:
    """Return the options of a server over stores in *folder*."""
    config = folder / "chatmemory.toml"
    config.write_text(
        f'[server]\ntoken = "{token}"\n\n[server.tokens.reader]\ntoken = "nur-zum-lesen-1234"\nuser = "r"\nreadOnly = true\n'
        if token
        else ""
    )
    return (
        "--config",
        config,
        "--store",
        folder / "memory.db",
        "--past-chats",
        folder / "past.db",
        "--port",
        "0",
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with started(CHATMEMORY, "serve", *settings(tmp_path_factory.mktemp("open"))) as server:
        yield server


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with started(CHATMEMORY, "serve", *settings(tmp_path_factory.mktemp("locked"), token=TOKEN)) as server:
        yield server


def remembered(server: Server, *headers: str, body: bytes = b"") -> Answer:
    """Ask for a memory to be made."""
    body = body or json.dumps({"memories": [{"content": "我喜欢茶", "memoryType": "long_term"}]}).encode()
    return server.asked("POST /memories HTTP/1.1", HOST, f"Content-Length: {len(body)}", *headers, body=body)


def test_what_a_hostile_page_sends_is_refused(server: Server) -> None:
    evil = "Origin: http://evil.example"
    assert remembered(server, JSON, evil).problem == "403 OriginRefusedError"
    assert remembered(server, JSON, "Origin: null").problem == "403 OriginRefusedError"
    assert remembered(server, "Content-Type: text/plain").problem == "415 UnsupportedMediaTypeError"
    assert remembered(server, "Content-Type: application/x-www-form-urlencoded").status == 415
    assert server.asked("GET /memories HTTP/1.1", "Host: evil.example:8642").problem == "421 HostRefusedError"
    assert server.asked("GET /memories HTTP/1.1", HOST, evil).problem == "403 OriginRefusedError"
    assert remembered(server, JSON).status == 201


def test_a_body_that_is_too_large_or_too_deep_is_refused(server: Server) -> None:
    assert remembered(server, JSON, body=b"x" * 2_000_000).problem == "413 ContentTooLargeError"
    deep = b'{"memories":' + b"[" * 100_000
    assert remembered(server, JSON, body=deep).problem == "422 DataValidationError"
    value = b"[" * 100_000 + b"]" * 100_000
    within = b'{"memories":[{"content":"x","value":' + value + b"}]}"
    assert remembered(server, JSON, body=within).problem == "422 DataValidationError"


@pytest.mark.parametrize(
    "path",
    [
        "/page/..%2fapp.py",
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page//app.js",
        "/page/%00",
        "/page/app.js%00.css",
        "/page/",
        "//page/app.js",
        "/%2fetc/passwd",
        "/page/C:%5c",
    ],
)
def test_no_path_leads_out_of_the_page(server: Server, path: str) -> None:
    assert server.asked(f"GET {path} HTTP/1.1", HOST).problem == "404 NotFoundError"


@pytest.mark.parametrize("conversation", ["a%00b", "%00", "%EF%BF%BE%00"])
def test_a_nul_in_an_id_is_refused_as_everywhere(server: Server, conversation: str) -> None:
    answer = server.asked(f"GET /conversations/{conversation} HTTP/1.1", HOST)
    assert answer.problem == "422 DataValidationError"


def test_an_id_may_hold_whatever_else_a_path_can_say(server: Server) -> None:
    for conversation in ["a%2Fb", "%E4%BD%A0%E5%A5%BD", "..", "%2E%2E%2F", "%25", "a+b", "events", "%0D%0AX"]:
        body = b'{"messages":[{"role":"user","content":"hi"}]}'
        path = f"/conversations/{conversation}/messages"
        lines = (f"POST {path} HTTP/1.1", HOST, JSON, f"Content-Length: {len(body)}")
        assert server.asked(*lines, body=body).status == 201
        (message,) = server.asked(f"GET {path} HTTP/1.1", HOST).json["messages"]
        assert message["content"] == "hi"


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer null",
        "Bearer 秘密秘密",
        TOKEN,
    ],
)
def test_whoever_bears_no_known_token_is_refused(locked: Server, authorization: str | None) -> None:
    headers = () if authorization is None else (f"Authorization: {authorization}",)
    answer = remembered(locked, JSON, *headers)
    assert answer.problem == "401 UnauthorizedError"
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN not in answer.body.decode()


def test_none_of_two_tokens_is_believed(locked: Server) -> None:
    """A proxy that adds one, and a client that sent one, would be taken for each other."""
    twice = (f"Authorization: Bearer {TOKEN}", "Authorization: Bearer nur-zum-lesen-1234")
    for headers in (twice, twice[::-1]):
        assert remembered(locked, JSON, *headers).problem == "401 UnauthorizedError"


@pytest.mark.parametrize("header", ['If-Match: "1"', "Idempotency-Key: k"])
def test_a_header_that_decides_about_a_write_is_sent_once(server: Server, header: str) -> None:
    body = b'{"messages":[{"role":"user","content":"hi"}]}'
    lines = ("POST /conversations/twice/messages HTTP/1.1", HOST, JSON, f"Content-Length: {len(body)}")
    answer = server.asked(*lines, header, header, body=body)
    assert answer.problem == "422 DataValidationError"
    assert [one["path"] for one in answer.json["problems"]] == [f"$.headers.{header.partition(':')[0]}"]
    assert server.asked("GET /conversations/twice HTTP/1.1", HOST).status == 404


def test_nobody_without_a_token_sends_bodies(locked: Server) -> None:
    with locked.connected() as client:
        client.send("POST /memories HTTP/1.1", HOST, JSON, "Content-Length: 999999")
        assert client.answer().problem == "401 UnauthorizedError"
        assert client.is_closed()


def test_a_token_opens_the_door_as_far_as_it_reaches(locked: Server) -> None:
    assert remembered(locked, JSON, f"Authorization: Bearer {TOKEN}").status == 201
    assert remembered(locked, JSON, f"authorization: bearer {TOKEN}").status == 201
    reader = "Authorization: Bearer nur-zum-lesen-1234"
    assert remembered(locked, JSON, reader).problem == "403 ForbiddenError"
    assert locked.asked("GET /memories HTTP/1.1", HOST, reader).json["memories"] == []


def test_neither_tokens_nor_words_are_logged(tmp_path: Path) -> None:
    said = '{"memories":[{"content":"静悄悄","sessionId":"sitzung-7"}]}'.encode()
    with started(CHATMEMORY, "serve", *settings(tmp_path, token=TOKEN)) as server:
        assert remembered(server, JSON, f"Authorization: Bearer {TOKEN}", body=said).status == 201
        assert remembered(server, JSON, f"Authorization: Bearer {TOKEN}1", body=said).status == 401
        exit_code, log = server.terminated()
    assert exit_code == 0
    assert "POST /memories 201 " in log
    assert "POST /memories 401 " in log
    assert not [word for word in (TOKEN, "静悄悄", "sitzung-7") if word in log]


def test_an_open_door_to_others_is_refused_in_one_line(tmp_path: Path) -> None:
    done = run_forked(CHATMEMORY, "serve", *settings(tmp_path), "--host", "0.0.0.0")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "other machines reach this address, so clients need a token" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "memory.db").exists()


def test_a_port_that_is_taken_is_said_in_one_line(server: Server, tmp_path: Path) -> None:
    port = server.url.rstrip("/").rpartition(":")[2]
    done = run_forked(CHATMEMORY, "serve", *settings(tmp_path), "--port", port)
    assert done.returncode != 0
    assert f"{port} of 127.0.0.1 is taken" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--port", "65536"), 2, "65536 is not in the range 0<=x<=65535"),
        (("--user", ""), 7, "server.user: "),
        (("--host", ""), 7, "server.host: "),
    ],
    ids=["a port that cannot be", "nobody", "nowhere"],
)
def test_an_option_that_cannot_be_is_told_and_nothing_is_opened(
    tmp_path: Path, options: tuple[str, ...], code: int, told: str
) -> None:
    done = run_forked(CHATMEMORY, "serve", *settings(tmp_path), *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "memory.db").exists()
