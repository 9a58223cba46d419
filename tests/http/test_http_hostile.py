"""What hostile pages and broken clients send is refused, each with an answer that says what to do."""

from collections.abc import Generator

import pytest

from tests.http.served import Server, behind_the_door

HOST = "Host: localhost"
JSON = "Content-Type: application/json"
SAID = '{"text": "你好"}'.encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with behind_the_door(tmp_path_factory.mktemp("hostile")) as server:
        yield server


def read(server: Server, *headers: str, path: str = "/") -> str:
    answer = server.asked(f"GET {path} HTTP/1.1", *headers)
    return "200" if answer.status == 200 else answer.problem


def written(server: Server, *headers: str, body: bytes = SAID) -> str:
    """Add a message with a request that has *headers* beside those that it needs."""
    lines = ("POST /conversations/c HTTP/1.1", HOST, f"Content-Length: {len(body)}", *headers)
    answer = server.asked(*lines, body=body)
    return "201" if answer.status == 201 else answer.problem


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost:1234", "LocalHost", "[::1]:80", "memory.example", "[fe80::7]"],
)
def test_the_names_of_the_server_are_answered(server: Server, host: str) -> None:
    assert read(server, f"Host: {host}") == "200"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "evil.localhost",
        "localhost.",
        "localhost@evil.example",
        "localhost:80:80",
        "localhost:",
        "localhost/",
        "[::1",
        "::1",
        "",
    ],
)
def test_any_other_name_is_refused_for_it_may_be_rebound(server: Server, host: str) -> None:
    assert read(server, f"Host: {host}") == "421 HostRefusedError"


@pytest.mark.parametrize("hosts", [(), ("Host: localhost", "Host: evil.example"), (HOST, HOST)])
def test_a_request_names_its_host_once(server: Server, hosts: tuple[str, ...]) -> None:
    assert read(server, *hosts) == "421 HostRefusedError"


@pytest.mark.parametrize("origin", ["http://localhost:8000", "https://localhost:8000"])
def test_the_page_of_the_server_may_write(server: Server, origin: str) -> None:
    page = ("POST /conversations/c HTTP/1.1", "Host: localhost:8000", f"Origin: {origin}", JSON)
    answer = server.asked(*page, "Sec-Fetch-Site: same-origin", f"Content-Length: {len(SAID)}", body=SAID)
    assert answer.status == 201
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:3000",
        "http://localhost.evil.example",
        "chrome-extension://abc",
        "file://",
        "null",
        "",
    ],
)
def test_pages_of_other_origins_may_neither_write_nor_read(server: Server, origin: str) -> None:
    assert written(server, JSON, f"Origin: {origin}") == "403 OriginRefusedError"
    assert read(server, HOST, f"Origin: {origin}") == "403 OriginRefusedError"


def test_one_origin_of_two_is_one_too_many(server: Server) -> None:
    assert written(server, JSON, "Origin: http://localhost", "Origin: null") == "403 OriginRefusedError"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever"])
def test_a_request_that_bears_no_origin_is_known_by_its_site(server: Server, site: str) -> None:
    assert (
        read(server, HOST, f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: no-cors") == "403 OriginRefusedError"
    )


def test_a_link_of_another_site_opens_the_page_and_nothing_else(server: Server) -> None:
    link = (HOST, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
    assert read(server, *link, "Sec-Fetch-Dest: document") == "200"
    assert read(server, *link, "Sec-Fetch-Dest: iframe") == "403 OriginRefusedError"
    assert read(server, *link, "Sec-Fetch-Dest: document", path="/slow") == "403 OriginRefusedError"


def test_an_address_that_a_person_typed_is_answered(server: Server) -> None:
    assert (
        read(server, HOST, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
        == "200"
    )


def test_a_preflight_gets_no_permission(server: Server) -> None:
    asked = ("Origin: http://evil.example", "Access-Control-Request-Method: POST")
    answer = server.asked("OPTIONS /conversations/c HTTP/1.1", HOST, *asked)
    assert answer.problem == "403 OriginRefusedError"
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "kind", ["application/json", 'application/JSON; charset="UTF-8"', "application/json;charset=utf-8"]
)
def test_json_may_be_written(server: Server, kind: str) -> None:
    assert written(server, f"Content-Type: {kind}") == "201"


@pytest.mark.parametrize(
    "headers",
    [
        (),
        ("Content-Type: application/x-www-form-urlencoded",),
        ("Content-Type: text/plain",),
        ("Content-Type: multipart/form-data; boundary=application/json",),
        ("Content-Type: application/json; charset=utf-16",),
        ("Content-Type: application/jsonp",),
        ("Content-Type: text/plain, application/json",),
        (JSON, "Content-Type: text/plain"),
        (JSON, "Content-Encoding: gzip"),
    ],
)
def test_what_a_form_can_send_is_refused(server: Server, headers: tuple[str, ...]) -> None:
    assert written(server, *headers) == "415 UnsupportedMediaTypeError"
    assert written(server, *headers, body=b"") == "415 UnsupportedMediaTypeError"


def test_a_large_body_is_refused_before_it_is_sent(server: Server) -> None:
    with server.connected() as client:
        client.send("POST /conversations/c HTTP/1.1", HOST, JSON, "Content-Length: 2000000")
        assert client.answer().problem == "413 ContentTooLargeError"
        assert client.is_closed()


@pytest.mark.parametrize("announced", ["Content-Length: 2000000", "Transfer-Encoding: chunked"])
def test_a_large_body_is_refused_while_it_is_sent(server: Server, announced: str) -> None:
    body = b"x" * 2_000_000
    sent = body if "Length" in announced else b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    assert written_as(server, announced, sent) == "413 ContentTooLargeError"


def written_as(server: Server, announced: str, sent: bytes) -> str:
    return server.asked("POST /conversations/c HTTP/1.1", HOST, JSON, announced, body=sent).problem


def test_a_client_that_is_still_sending_gets_its_answer_and_then_the_end(server: Server) -> None:
    with server.connected() as client:
        announced = ("POST /conversations/c HTTP/1.1", HOST, JSON, "Content-Length: 2000000")
        client.send(*announced, body=b"x" * 200_000)
        assert client.answer().problem == "413 ContentTooLargeError"
        assert client.incoming.read() == b""  # and no reset, which might have come before the answer


def test_a_chunk_that_is_none_breaks_the_request_off(server: Server) -> None:
    with server.connected() as client:
        client.send(
            "POST /conversations/c HTTP/1.1", HOST, JSON, "Transfer-Encoding: chunked", body=b"1\r\n{"
        )
        client.socket.sendall(b"\r\nzz\r\n")
        assert client.is_closed()


def test_a_client_that_waits_for_leave_to_send_gets_an_answer_instead(server: Server) -> None:
    waits = ("Expect: 100-continue", "Content-Length: 2000000")
    answer = server.asked("POST /conversations/c HTTP/1.1", HOST, JSON, *waits)
    assert answer.problem == "413 ContentTooLargeError"


def test_a_body_that_is_longer_than_announced_ends_the_connection(server: Server) -> None:
    with server.connected() as client:
        client.send(
            "POST /conversations/c HTTP/1.1", HOST, JSON, f"Content-Length: {len(SAID)}", body=SAID + b"{}"
        )
        assert client.answer().status == 201
        assert client.is_closed()


@pytest.mark.parametrize("opening", [b"[", b'{"text":'])
def test_brackets_without_end_are_no_json(server: Server, opening: bytes) -> None:
    assert written(server, JSON, body=opening * 100_000) == "422 DataValidationError"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"\xff\xfe",
        b'"\\ud800"',
        b'{"text":NaN}',
        b'{"text":"\xff"}',
        b"1" * 10_000,
        b'{"text":"\\u0000"}',
    ],
)
def test_what_is_no_message_is_refused(server: Server, body: bytes) -> None:
    assert written(server, JSON, body=body) == "422 DataValidationError"


@pytest.mark.parametrize("path", ["/%", "/%zz", "/%4", "/%ff", "/%c0%af", "/?q=%ff", "/?q=%", "/%ed%a0%80"])
def test_a_path_that_says_nothing_certain_is_refused(server: Server, path: str) -> None:
    assert read(server, HOST, path=path) == "400 MalformedRequestError"


@pytest.mark.parametrize(
    "target", ["http://evil.example/", "*", "evil.example:443", "//\x80", "/ x", "/\xff"]
)
def test_a_target_that_is_no_path_is_refused(server: Server, target: str) -> None:
    with server.connected() as client:
        client.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1"))
        assert client.answer().problem == "400 MalformedRequestError"
        assert client.is_closed()


@pytest.mark.parametrize(
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
    ids=lambda lines: lines[0][:20] + lines[-1][:20],
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
    lines = [f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n" for method, path in PIPELINED]
    with server.connected() as client:
        client.socket.sendall("".join(lines).encode())
        assert [client.answer(has_body=method != "HEAD").status for method, _ in PIPELINED] == [
            200,
            404,
            200,
            200,
        ]


PIPELINED = [("GET", "/slow"), ("GET", "/nothing"), ("HEAD", "/"), ("GET", "/")]


def test_an_upgrade_is_not_taken(server: Server) -> None:
    upgrade = (
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AA==",
    )
    assert server.asked("GET / HTTP/1.1", HOST, *upgrade).status == 200


H2C = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")


def test_who_asks_for_another_protocol_is_answered_once(server: Server) -> None:
    with server.connected() as client:
        client.send("GET / HTTP/1.1", HOST, *H2C)
        assert client.answer().status == 200
        assert client.is_closed()  # what follows would be read by nobody


def test_a_body_for_another_protocol_is_refused_and_not_taken_for_none(server: Server) -> None:
    body = '{"text": "你好"}'.encode()
    length = f"Content-Length: {len(body)}"
    head = ("POST /conversations/c HTTP/1.1", HOST, "Content-Type: application/json", length)
    refused = server.asked(*head, *H2C, body=body)
    assert refused.problem == "400 MalformedRequestError"
    assert "Upgrade" in refused.json["detail"]
    assert server.asked(*head, body=body).status == 201


def test_every_answer_tells_the_browser_to_keep_it_to_itself(server: Server) -> None:
    answers = [server.asked("GET / HTTP/1.1", HOST), server.asked("GET / HTTP/1.1"), server.asked("nonsense")]
    for headers in (answer.headers for answer in answers):
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "server" not in headers
