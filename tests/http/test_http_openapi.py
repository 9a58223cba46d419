"""The OpenAPI document says what the operations are."""

from pathlib import Path
from typing import Any, get_args

import httpx
from jsonschema import Draft202012Validator

from chatmemory.programs.http.openapi import openapi_document
from chatmemory.programs.http.operation import Operation
from chatmemory.programs.http.operations.every_operation import OPERATIONS, openapi_text
from chatmemory.programs.http.problems import KINDS
from chatmemory.programs.operations.refusal import RefusalTag
from tests.for_each import for_each

COMMITTED = Path(__file__).parents[2] / "schemas" / "openapi.json"
DOCUMENT: Any = openapi_document(OPERATIONS)


def test_the_committed_document_is_that_of_the_operations() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == openapi_text(), (
        "run `make schemas` and commit what it writes"
    )


def test_the_document_is_one_of_openapi_and_every_schema_in_it_is_one() -> None:
    from schemathesis.specs.openapi.definitions import OPENAPI_31

    Draft202012Validator(OPENAPI_31).validate(DOCUMENT)
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    named = {said["operationId"] for path in DOCUMENT["paths"].values() for said in path.values()}
    assert len(named) == len(OPERATIONS)
    tags = DOCUMENT["components"]["schemas"]["ProblemDocument"]["properties"]["tag"]["enum"]
    assert set(get_args(RefusalTag)) < set(tags) == set(KINDS)


@for_each("operation", OPERATIONS)
def test_an_operation_is_described_whole(operation: Operation) -> None:
    said = DOCUMENT["paths"][operation.path][operation.method.lower()]
    assert said["summary"]
    assert str(operation.status) in said["responses"]
    assert {"400", "403", "408", "413", "415", "421", "422", "500", "503"} <= set(said["responses"])
    assert ("401" in said["responses"]) is not operation.is_open
    in_path = [given["name"] for given in said["parameters"] if given["in"] == "path"]
    assert in_path == list(operation.path_parameters)
    headers = {given["name"] for given in said["parameters"] if given["in"] == "header"}
    assert ("If-Match" in headers, "Idempotency-Key" in headers) == (
        operation.takes_version,
        operation.changes,
    )
    assert ("requestBody" in said) is (operation.method in {"POST", "PUT", "PATCH"})


def test_failures_are_said_by_their_tags_versions_by_a_header_and_a_stream_by_its_type() -> None:
    paths = DOCUMENT["paths"]
    responses = paths["/memories/{memoryId}"]["patch"]["responses"]
    assert responses["404"]["description"].startswith("`MemoryNotFoundError`: ")
    assert responses["412"]["description"].startswith("`MemoryChangedError`: ")
    assert "`GenericMemoryError`" in responses["503"]["description"]
    read = paths["/conversations/{conversationId}/messages"]["get"]["responses"]
    assert "ETag" in read["200"]["headers"]
    assert "content" not in read["304"]
    assert "304" not in paths["/memories/{memoryId}"]["get"]["responses"]  # its use counts without a version
    followed = paths["/conversations/{conversationId}/events"]["get"]
    assert set(followed["responses"]["200"]["content"]) == {"text/event-stream"}


@for_each(
    ("change", "is_right"),
    [
        ({}, True),
        ({"limit": 200}, True),
        ({"limit": 201}, False),
        ({"limit": None}, True),
        ({"query": 1}, False),
        ({"tags": ["a", "a"]}, False),
        ({"tags": [""]}, False),
        ({"asOf": "2025-03-14T12:00:00Z"}, True),
        ({"asof": "2025-03-14T12:00:00Z"}, False),
    ],
)
async def test_document_and_server_agree_about_a_question(
    client: httpx.AsyncClient, change: dict[str, Any], is_right: bool
) -> None:
    question = {"query": "喜欢", **change}
    schema = {**DOCUMENT, "$ref": "#/components/schemas/Question"}
    assert Draft202012Validator(schema).is_valid(question) is is_right
    answer = await client.post("/memories/recall", json=question)
    assert answer.status_code == (200 if is_right else 422)
