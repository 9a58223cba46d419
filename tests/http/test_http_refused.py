"""``chatmemory serve`` itself refuses what its guards refuse, and whoever bears no token that it knows."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.forked import run_forked
from tests.http.served import CHATMEMORY, HOST, JSON, Answer, Server, served
from tests.http.test_http_schemathesis import ENVIRONMENT
from tests.http_api import said

TOKEN = "geheimnis-geheimnis"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with served(tmp_path_factory.mktemp("open") / "memory.db") as server:
        yield server


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    environment = {**ENVIRONMENT, "CHATMEMORY_SERVER_TOKEN": TOKEN}
    with served(tmp_path_factory.mktemp("locked") / "memory.db", environment=environment) as server:
        yield server


def remembered(server: Server, *headers: str, body: bytes = b"") -> Answer:
    """Ask for a memory to be made."""
    body = body or json.dumps({"memories": [{"content": "我喜欢茶", "memoryType": "long_term"}]}).encode()
    return server.asked("POST /memories HTTP/1.1", HOST, f"Content-Length: {len(body)}", *headers, body=body)


def test_what_a_hostile_page_sends_is_refused(server: Server) -> None:
    evil = "Origin: http://evil.example"
    assert remembered(server, JSON, evil).problem == "403 OriginRefusedError"
    assert remembered(server, "Content-Type: text/plain").problem == "415 UnsupportedMediaTypeError"
    assert server.asked("GET /memories HTTP/1.1", "Host: evil.example:8642").problem == "421 HostRefusedError"
    assert remembered(server, JSON, body=b"x" * 2_000_000).problem == "413 ContentTooLargeError"
    deep = b'{"memories":[{"content":"x","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}"
    assert remembered(server, JSON, body=deep).problem == "422 DataValidationError"
    assert remembered(server, JSON).status == 201


def test_no_path_leads_out_of_the_page(server: Server) -> None:
    paths = [
        "/page/..%2fapp.py", "/page/../app.py", "/page/%2e%2e/app.py", "/page//app.js", "/page/%00", "/page/app.js%00.css",
        "/page/", "//page/app.js", "/%2fetc/passwd", "/page/C:%5c",
    ]  # fmt: skip
    found = {path: server.asked(f"GET {path} HTTP/1.1", HOST).problem for path in paths}
    assert found == dict.fromkeys(paths, "404 NotFoundError")


def test_an_id_may_hold_whatever_a_path_can_say_but_nul(server: Server) -> None:
    for conversation in ["a%00b", "%00", "%EF%BF%BE%00"]:
        answer = server.asked(f"GET /conversations/{conversation} HTTP/1.1", HOST)
        assert answer.problem == "422 DataValidationError", conversation
    for conversation in ["a%2Fb", "%E4%BD%A0%E5%A5%BD", "..", "%2E%2E%2F", "%25", "a+b", "events", "%0D%0AX"]:
        path = f"/conversations/{conversation}/messages"
        assert server.post(path, said("hi")).status == 201, conversation
        (message,) = server.asked(f"GET {path} HTTP/1.1", HOST).json["messages"]
        assert message["content"] == "hi"


WRONG = (
    *("", "Bearer", "Bearer ", "Basic b3duZXI6", TOKEN, f"Token {TOKEN}"),
    *("Bearer 秘密秘密", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"),
)


def test_whoever_bears_no_known_token_or_two_is_refused(locked: Server) -> None:
    """Of two, a proxy may have added one, and a client sent the other: they would be taken for each other."""
    known = [f"Authorization: {kind} {TOKEN}" for kind in ("Bearer", "bearer", "BEARER")]
    two = (known[0], f"Authorization: Bearer {TOKEN}x")
    for headers in ((), two, two[::-1], *((f"Authorization: {one}",) for one in WRONG)):
        answer = remembered(locked, JSON, *headers)
        assert answer.problem == "401 UnauthorizedError", headers
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert TOKEN not in answer.body.decode()
    assert [remembered(locked, JSON, one).status for one in known] == [201] * 3


@for_each("header", ['If-Match: "1"', "Idempotency-Key: k"])
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


def test_an_option_that_cannot_be_is_told_in_one_line_with_a_page_and_nothing_is_opened(
    tmp_path: Path,
) -> None:
    config = tmp_path / "chatmemory.toml"
    config.touch()
    stores = ("--store", tmp_path / "memory.db", "--past-chats", tmp_path / "past.db")
    options = ("--config", config, *stores, "--port", "0")
    for name, value, code, told in (
        ("--host", "0.0.0.0", 7, "other machines reach this address, so clients need a token"),
        ("--port", "65536", 2, "65536 is not in the range 0<=x<=65535"),
        ("--user", "", 7, "server.user: "),
    ):
        done = run_forked(CHATMEMORY, "serve", *options, name, value)
        assert (done.returncode, done.stdout) == (code, ""), name
        *_, last = [line for line in done.stderr.splitlines() if not line.startswith("help: ")]
        assert told in last
        assert "Traceback" not in done.stderr
        assert code == 2 or done.stderr == f"{last}\nhelp: docs/guides/configuration.md\n"
        assert not (tmp_path / "memory.db").exists()
