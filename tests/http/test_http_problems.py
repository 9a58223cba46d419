"""What fails is said by a problem document of its tag."""

from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from chatmemory.errors import EmbeddingError, GenericMemoryError, RepositoryError
from chatmemory.longterm.memory_rules import MAX_FACTS
from chatmemory.programs.http.operations.memories import MOST_REMEMBERED
from chatmemory.programs.http.problems import KINDS, problem_document, problem_response
from chatmemory.programs.operations.refusal import ApiError, Refusal, RefusalTag
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api, problem, said, wrong_places
from tests.service_errors import SERVICE_ERRORS

ERRORS: list[ApiError] = [*SERVICE_ERRORS, *(Refusal(tag, "do this") for tag in get_args(RefusalTag))]


def test_every_tag_has_a_kind_and_an_example_here() -> None:
    assert {error.tag for error in ERRORS} == set(KINDS)


@for_each("error", ERRORS)
def test_a_problem_says_what_it_is_and_what_to_do(error: ApiError) -> None:
    response = problem_response(error)
    said = problem_document(error)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.status_code == said["status"] == KINDS[error.tag].status
    assert said["type"] == f"/docs/problems#{error.tag}"
    assert said["title"] == KINDS[error.tag].title
    assert KINDS[error.tag].cure
    assert said["detail"]
    assert "expected_version" not in said["detail"]
    assert "()" not in said["detail"]
    assert (said["tag"], said["retryIsSafe"]) == (error.tag, error.retry_is_safe)


def test_what_passes_is_told_to_come_again_and_a_cause_to_nobody() -> None:
    for reason in ("busy", "unavailable", "full", "outcome_unknown"):
        response = problem_response(GenericMemoryError(RepositoryError("append", reason)))
        assert (response.status_code, response.headers["retry-after"]) == (503, "1"), reason
    cause = OSError("/home/mei/secret.db")
    failed = problem_response(GenericMemoryError(EmbeddingError("e", "raised", "OSError", cause=cause)))
    assert b"secret" not in failed.body


BROKEN: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("GET", "/conversations?limit=-1&order=up", {}, ["$.query.limit", "$.query.order"]),
    ("GET", "/memories?limit=1&limit=2", {}, ["$.query.limit"]),
    ("GET", "/memories?asOf=yesterday", {}, ["$.query.asOf"]),
    ("GET", "/memories?source=gossip&superseded=perhaps", {}, ["$.query.source", "$.query.superseded"]),
    ("GET", "/memory/facets?source=gossip", {}, ["$.query.source"]),
    ("POST", "/memory/extract", {"json": {"role": "boss", "text": ""}}, ["$.body.role", "$.body.content", "$.body.text"]),
    ("POST", "/memory/extract", {"json": ["content"]}, ["$.body"]),
    ("PUT", "/memories/m/pin", {"json": {"pinned": "yes"}}, ["$.body.pinned"]),
    ("PATCH", "/memories/m", {"json": {}, "headers": {"If-Match": "12"}}, ["$.headers.If-Match"]),
    ("DELETE", "/memories/m", {"headers": {"If-Match": '"12"'}}, ["$.headers.If-Match"]),
]  # fmt: skip


@for_each(("method", "path", "sent", "paths"), BROKEN)
async def test_everything_that_is_wrong_with_a_request_is_said_at_once(
    client: httpx.AsyncClient, method: str, path: str, sent: dict[str, Any], paths: list[str]
) -> None:
    answer = await client.request(method, path, **sent)
    assert sorted(wrong_places(answer)) == sorted(paths)


FOUND_BY_SERVICES: list[tuple[str, str, dict[str, Any], str]] = [
    ("GET", "/conversations/c/messages?olderThan=1&newerThan=1", {}, "$.query.newerThan"),
    ("GET", f"/conversations/{'x' * 600}", {}, "$.path.conversationId"),
    ("POST", "/conversations/c/messages", {"json": said("\0")}, "$.body.messages[0].content"),
    ("POST", "/memories", {"json": {"memories": [{"content": "x", "sessionId": ""}]}}, "$.body.memories[0].sessionId"),
    ("POST", "/memories/turn", {"json": {"userContent": "\0", "assistantContent": "", "sessionId": "s"}}, "$.body.userContent"),
    ("POST", "/memories/auto-save", {"json": {"content": "x", "messageId": ""}}, "$.body.messageId"),
    ("PATCH", "/memories/m", {"json": {"content": ""}}, "$.body.content"),
    ("POST", "/memories/m/supersede", {"json": {"memory": {"content": "x", "key": ""}}}, "$.body.memory.key"),
    ("GET", "/memories?app=" + "x" * 600, {}, "$.query.app"),
    ("GET", "/memories?sessionId=", {}, "$.query.sessionId"),
]  # fmt: skip


@for_each(("method", "path", "sent", "place"), FOUND_BY_SERVICES)
async def test_a_problem_that_a_service_finds_is_told_at_the_place_that_the_client_wrote(
    client: httpx.AsyncClient, method: str, path: str, sent: dict[str, Any], place: str
) -> None:
    answer = await client.request(method, path, **sent)
    assert wrong_places(answer) == [place]
    assert "_" not in answer.json()["detail"]


async def test_a_key_of_the_clients_own_is_told_as_it_is(client: httpx.AsyncClient) -> None:
    said = {"role": "user", "content": "x", "metadata": {"my_key": "\0"}}
    answer = await client.post("/conversations/c/messages", json={"messages": [said]})
    (wrong,) = answer.json()["problems"]
    assert wrong["path"] == "$.body.messages[0].metadata.my_key"
    assert wrong["message"] == "NUL at character 0: leave it out, or put U+FFFD in its place"


async def test_where_there_is_nothing_nothing_is_written_and_a_path_tells_the_methods_that_it_takes(
    client: httpx.AsyncClient,
) -> None:
    for path in ("/", "/nothing", "/memories/", "/memories/a/b", "/conversations/a/b"):
        answer = await client.put(path, json={})
        assert answer.json()["tag"] in {"NotFoundError", "MethodNotAllowedError"}, path
    answer = await client.put("/memories", json={})
    assert problem(answer) == "405 MethodNotAllowedError"
    assert set(answer.headers["allow"].split(", ")) == {"GET", "POST"}


async def test_what_fails_beneath_is_told_to_the_operator_by_its_kind_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "a.db"
    async with api(stacks.embedded(store)) as client:
        store.rename(tmp_path / "elsewhere.db")
        answer = await client.post("/memories", json={"memories": [{"content": "我的秘密"}]})
        (tmp_path / "elsewhere.db").rename(store)
    assert answer.status_code == 503
    assert caplog.messages == ["POST /memories by (everybody): RepositoryError: unavailable"]


# --- Bodies that no sane client sends ---

JSON = {"Content-Type": "application/json"}


@for_each(
    ("path", "body", "place"),
    [
        ("/memories", f'{{"memories": [{{"content": "好", "confidence": {"9" * 400}}}]}}', "confidence"),
        ("/memories", r'{"memories": [], "\ud83e": 1}', r"\ud83e"),
        ("/memories", r'{"memories": [{"content": "\ud83e"}]}', "content"),
        ("/memories", '{"memories": [{"content": "好", "key": "a", "value": 1e400}]}', "value"),
        ("/memories/recall", r'{"query": "\ud83e"}', "query"),
        ("/past-chats/search", r'{"query": "a", "limit": 1e300}', "limit"),
    ],
)
async def test_what_no_text_and_no_number_can_hold_is_a_problem_with_its_place(
    client: httpx.AsyncClient, path: str, body: str, place: str
) -> None:
    answer = await client.post(path, content=body, headers=JSON)
    assert all(place in wrong for wrong in wrong_places(answer))


async def test_a_body_full_of_mistakes_gets_an_answer_of_a_readable_length(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        "/conversations/c/messages", content=f'{{"messages": [{"1," * 400_000}1]}}', headers=JSON
    )
    assert answer.status_code == 422
    assert len(answer.content) < 10_000


async def test_so_many_memories_are_saved_at_once_and_no_more(client: httpx.AsyncClient) -> None:
    memories = [{"content": f"第 {number} 条"} for number in range(MOST_REMEMBERED + 1)]
    too_many = await client.post("/memories", json={"memories": memories})
    assert wrong_places(too_many)[0] == "$.body.memories"
    assert (await client.post("/memories", json={"memories": memories[1:]})).status_code == 201


async def test_a_model_that_wants_everything_to_be_remembered_is_refused(client: httpx.AsyncClient) -> None:
    fact = {"value": "茶", "category": "preference", "confidence": 0.9}
    facts = [{"key": f"偏好 {number}", **fact} for number in range(MAX_FACTS + 1)]
    said = {"content": "茶", "update": {"shouldStore": True, "memories": facts}}
    too_many = await client.post("/memories/auto-save", json=said)
    assert too_many.json()["problems"] == [
        {"path": "$.body.update.memories", "message": f"{MAX_FACTS + 1} facts are more than {MAX_FACTS}"}
    ]
    said["update"] = {"shouldStore": True, "memories": facts[1:]}
    assert (await client.post("/memories/auto-save", json=said)).status_code == 201
