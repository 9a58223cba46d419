"""``chatmemory serve`` itself refuses what its guards refuse, and whoever bears no token that it knows."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.forked import run_forked
from tests.http.served import CHATMEMORY, Answer, Server, started

TOKEN = "geheimnis-geheimnis"
READER = "nur-zum-lesen-1234"
HOST = "Host: localhost"
JSON = "Content-Type: application/json"


def settings(folder: Path, *, token: str = "") -> tuple[str | Path, ...]:
    """Return the options of a server over stores in *folder*."""
    config = folder / "chatmemory.toml"
    reader = f'[server.tokens.reader]\ntoken = "{READER}"\nuser = "r"\nreadOnly = true\n'
    config.write_text(f'[server]\ntoken = "{token}"\n\n{reader}' if token else "")
    stores = ("--store", folder / "memory.db", "--past-chats", folder / "past.db")
    return ("--config", config, *stores, "--port", "0")


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
    assert remembered(server, "Content-Type: text/plain").problem == "415 UnsupportedMediaTypeError"
    assert server.asked("GET /memories HTTP/1.1", "Host: evil.example:8642").problem == "421 HostRefusedError"
    assert remembered(server, JSON, body=b"x" * 2_000_000).problem == "413 ContentTooLargeError"
    for deep in (b"[" * 100_000, b'[{"content":"x","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}"):
        refused = remembered(server, JSON, body=b'{"memories":' + deep)
        assert refused.problem == "422 DataValidationError"
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
        said = {"messages": [{"role": "user", "content": "hi"}]}
        assert server.post(path, said).status == 201, conversation
        (message,) = server.asked(f"GET {path} HTTP/1.1", HOST).json["messages"]
        assert message["content"] == "hi"


def test_whoever_bears_no_known_token_or_two_is_refused(locked: Server) -> None:
    """Of two, a proxy may have added one, and a client sent the other: they would be taken for each other."""
    bearers = (f"Authorization: Bearer {TOKEN}", f"Authorization: Bearer {READER}")
    wrong = [(), ("Authorization: Bearer 秘密秘密",), (f"{bearers[0]}x",), bearers, bearers[::-1]]
    for headers in wrong:
        answer = remembered(locked, JSON, *headers)
        assert answer.problem == "401 UnauthorizedError", headers
        assert TOKEN not in answer.body.decode()


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


def test_a_token_opens_the_door_as_far_as_it_reaches(locked: Server) -> None:
    assert remembered(locked, JSON, f"Authorization: Bearer {TOKEN}").status == 201
    assert remembered(locked, JSON, f"authorization: bearer {TOKEN}").status == 201
    reader = f"Authorization: Bearer {READER}"
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


def test_an_option_that_cannot_be_is_told_in_one_line_and_nothing_is_opened(
    server: Server, tmp_path: Path
) -> None:
    port = server.url.rstrip("/").rpartition(":")[2]
    for name, value, code, told in (
        ("--host", "0.0.0.0", 7, "other machines reach this address, so clients need a token"),
        ("--port", port, 7, f"{port} of 127.0.0.1 is taken"),
        ("--port", "65536", 2, "65536 is not in the range 0<=x<=65535"),
        ("--user", "", 7, "server.user: "),
        ("--host", "", 7, "server.host: "),
    ):
        done = run_forked(CHATMEMORY, "serve", *settings(tmp_path), name, value)
        assert (done.returncode, done.stdout) == (code, ""), name
        assert told in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
        assert code == 2 or len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "memory.db").exists()
