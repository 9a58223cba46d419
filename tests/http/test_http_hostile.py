"""What hostile pages and broken clients send is refused, each with an answer that says what to do."""

from collections.abc import Generator, Sequence

import pytest

from tests.for_each import for_each
from tests.http.served import HOST, JSON, POST, Server, guarded_server

SAID = '{"text": "你好"}'.encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with guarded_server(tmp_path_factory.mktemp("hostile")) as server:
        yield server


def read(server: Server, *headers: str, path: str = "/") -> str:
    answer = server.asked(f"GET {path} HTTP/1.1", *headers)
    return "200" if answer.status == 200 else answer.problem


def written(server: Server, *headers: str, body: bytes = SAID) -> str:
    """Add a message with a request that has *headers* beside those that it needs."""
    lines = ("POST /conversations/c HTTP/1.1", HOST, f"Content-Length: {len(body)}", *headers)
    answer = server.asked(*lines, body=body)
    return "201" if answer.status == 201 else answer.problem


HOSTS: dict[str, Sequence[str]] = {
    "200": ["127.0.0.1", "localhost:1234", "LocalHost", "[::1]:80", "memory.example", "[fe80::7]"],
    "421 HostRefusedError": [
        "evil.example", "evil.example:80", "localhost.evil.example", "evil.localhost", "localhost.",
        "localhost@evil.example", "localhost:80:80", "localhost:", "localhost/", "[::1", "::1", "",
    ],
}  # fmt: skip


def test_the_names_of_the_server_are_answered_and_any_other_is_refused_for_it_may_be_rebound(
    server: Server,
) -> None:
    found = {
        answer: [host for host in hosts if read(server, f"Host: {host}") == answer]
        for answer, hosts in HOSTS.items()
    }
    assert found == HOSTS
    for hosts in ((), (HOST, "Host: evil.example"), (HOST, HOST)):  # a request names its host once
        assert read(server, *hosts) == "421 HostRefusedError", hosts


@for_each("origin", ["http://localhost:8000", "https://localhost:8000"])
def test_the_page_of_the_server_may_write(server: Server, origin: str) -> None:
    page = ("POST /conversations/c HTTP/1.1", "Host: localhost:8000", f"Origin: {origin}", JSON)
    answer = server.asked(*page, "Sec-Fetch-Site: same-origin", f"Content-Length: {len(SAID)}", body=SAID)
    assert answer.status == 201
    assert not [name for name in answer.headers if name.startswith("access-control")]


ORIGINS = [
    "http://evil.example", "http://localhost:3000", "http://localhost.evil.example", "chrome-extension://abc", "file://",
    "null", "",
]  # fmt: skip


@for_each("origin", ORIGINS)
def test_pages_of_other_origins_may_neither_write_nor_read(server: Server, origin: str) -> None:
    assert written(server, JSON, f"Origin: {origin}") == "403 OriginRefusedError"
    assert written(server, JSON, "Origin: http://localhost", f"Origin: {origin}") == "403 OriginRefusedError"
    assert read(server, HOST, f"Origin: {origin}") == "403 OriginRefusedError"


def test_a_request_without_an_origin_is_known_by_its_site(server: Server) -> None:
    for site in ("cross-site", "same-site", "whatever"):
        refused = read(server, HOST, f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: no-cors")
        assert refused == "403 OriginRefusedError", site
    typed = ("Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
    assert read(server, HOST, *typed) == "200"
    link = (HOST, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
    assert read(server, *link, "Sec-Fetch-Dest: document") == "200"
    assert read(server, *link, "Sec-Fetch-Dest: iframe") == "403 OriginRefusedError"
    assert read(server, *link, "Sec-Fetch-Dest: document", path="/slow") == "403 OriginRefusedError"


def test_a_preflight_gets_no_permission(server: Server) -> None:
    asked = ("Origin: http://evil.example", "Access-Control-Request-Method: POST")
    answer = server.asked("OPTIONS /conversations/c HTTP/1.1", HOST, *asked)
    assert answer.problem == "403 OriginRefusedError"
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_json_may_be_written_and_what_a_form_can_send_is_refused(server: Server) -> None:
    for kind in ("application/json", 'application/JSON; charset="UTF-8"', "application/json;charset=utf-8"):
        assert written(server, f"Content-Type: {kind}") == "201", kind
    for headers in FORMS:
        assert written(server, *headers) == "415 UnsupportedMediaTypeError", headers
        assert written(server, *headers, body=b"") == "415 UnsupportedMediaTypeError", headers


FORMS: list[tuple[str, ...]] = [
    (),
    *((f"Content-Type: {kind}",) for kind in (
        "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=application/json",
        "application/json; charset=utf-16", "application/jsonp", "text/plain, application/json",
    )),
    (JSON, "Content-Type: text/plain"),
    (JSON, "Content-Encoding: gzip"),
]  # fmt: skip


@for_each("waits", [(), ("Expect: 100-continue",)])
def test_a_large_body_is_refused_before_it_is_sent(server: Server, waits: tuple[str, ...]) -> None:
    with server.connected() as client:
        client.send(*POST, *waits, "Content-Length: 2000000")
        assert client.answer().problem == "413 ContentTooLargeError"
        assert client.is_closed()


def test_a_large_body_is_refused_while_it_is_sent_without_a_reset(server: Server) -> None:
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (2_000_000, b"x" * 2_000_000)
    assert (
        server.asked(*POST, "Transfer-Encoding: chunked", body=chunked).problem == "413 ContentTooLargeError"
    )
    with server.connected() as client:
        client.send(*POST, "Content-Length: 2000000", body=b"x" * 200_000)
        assert client.answer().problem == "413 ContentTooLargeError"
        assert client.incoming.read() == b""  # and no reset, which might have come before the answer


def test_a_chunk_that_is_none_and_a_body_that_is_longer_than_announced_end_the_connection(
    server: Server,
) -> None:
    with server.connected() as client:
        client.send(*POST, "Transfer-Encoding: chunked", body=b"1\r\n{")
        client.socket.sendall(b"\r\nzz\r\n")
        assert client.is_closed()
    with server.connected() as client:
        client.send(*POST, f"Content-Length: {len(SAID)}", body=SAID + b"{}")
        assert client.answer().status == 201
        assert client.is_closed()


NO_MESSAGES = [
    b"[" * 100_000, b'{"text":' * 100_000, b"", b"null", b"\xff\xfe", b'"\\ud800"', b'{"text":NaN}', b'{"text":"\xff"}',
    b"1" * 10_000, b'{"text":"\\u0000"}',
]  # fmt: skip


@for_each("body", NO_MESSAGES)
def test_what_is_no_message_is_refused(server: Server, body: bytes) -> None:
    assert written(server, JSON, body=body) == "422 DataValidationError"


@for_each("path", ["/%", "/%zz", "/%4", "/%ff", "/%c0%af", "/?q=%ff", "/?q=%", "/%ed%a0%80"])
def test_a_path_that_says_nothing_certain_is_refused(server: Server, path: str) -> None:
    assert read(server, HOST, path=path) == "400 MalformedRequestError"


@for_each("target", ["http://evil.example/", "*", "evil.example:443", "//\x80", "/ x", "/\xff"])
def test_a_target_that_is_no_path_is_refused(server: Server, target: str) -> None:
    with server.connected() as client:
        client.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1"))
        assert client.answer().problem == "400 MalformedRequestError"
        assert client.is_closed()


@for_each(
    "lines",
    [
        ("GET / HTTP/1.1", HOST, "X: " + "x" * 17_000),
        ("GET / HTTP/1.1", HOST, *["X: xxxxxxxxxxxxxx"] * 2_000),
        ("GET /" + "x" * 17_000 + " HTTP/1.1", HOST),
        ("GET / HTTP/1.1", HOST, "X: " + "x" * 5_000_000),
        ("GET / HTTP/1.1", HOST, "no colon"),
        ("GET / HTTP/1.1", HOST, "Transfer-Encoding: chunked", "Content-Length: 3"),
        ("GET / HTTP/1.1", HOST, "Content-Length: 3", "Content-Length: 4"),
        ("GET / HTTP/1.1", HOST, "Content-Length: -1"),
        ("GET / HTTP/3.7", HOST),
        ("PRI * HTTP/2.0", "", "SM"),
        ("\x16\x03\x01\x02", "TLS"),
        ("CONNECT evil.example:443 HTTP/1.1", HOST),
    ],
)
def test_what_is_no_http_of_a_sane_size_is_refused(server: Server, lines: tuple[str, ...]) -> None:
    with server.connected() as client:
        client.send(*lines)
        assert client.answer().problem == "400 MalformedRequestError"
        assert client.is_closed()


def test_a_head_without_end_is_not_collected(server: Server) -> None:
    with server.connected() as client:
        client.socket.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)
        assert client.answer().problem == "400 MalformedRequestError"


def test_an_old_client_is_answered_and_let_go(server: Server) -> None:
    with server.connected() as client:
        client.send("GET / HTTP/1.0", HOST)
        assert client.answer().status == 200
        assert client.is_closed()


def test_requests_that_come_at_once_are_answered_in_order(server: Server) -> None:
    pipelined = [("GET", "/slow"), ("GET", "/nothing"), ("HEAD", "/"), ("GET", "/")]
    lines = [f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n" for method, path in pipelined]
    with server.connected() as client:
        client.socket.sendall("".join(lines).encode())
        statuses = [client.answer(has_body=method != "HEAD").status for method, _ in pipelined]
    assert statuses == [200, 404, 200, 200]


def test_an_upgrade_is_not_taken_and_who_asks_for_another_protocol_is_answered_once(server: Server) -> None:
    websocket = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AA==")
    assert server.asked("GET / HTTP/1.1", HOST, "Connection: Upgrade", *websocket).status == 200
    with server.connected() as client:
        client.send("GET / HTTP/1.1", HOST, *H2C)
        assert client.answer().status == 200
        assert client.is_closed()  # what follows would be read by nobody


H2C = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")


def test_a_body_for_another_protocol_is_refused_and_not_taken_for_none(server: Server) -> None:
    head = (*POST, f"Content-Length: {len(SAID)}")
    refused = server.asked(*head, *H2C, body=SAID)
    assert refused.problem == "400 MalformedRequestError"
    assert "Upgrade" in refused.json["detail"]
    assert server.asked(*head, body=SAID).status == 201


def test_every_answer_tells_the_browser_to_keep_it_to_itself(server: Server) -> None:
    expected = {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "x-frame-options": "DENY",
        "cache-control": "no-store",
    }
    for lines in (("GET / HTTP/1.1", HOST), ("GET / HTTP/1.1",), ("nonsense",)):
        headers = server.asked(*lines).headers
        assert expected.items() <= headers.items()
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "server" not in headers
