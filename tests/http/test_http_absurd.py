"""Bodies that no sane client sends: each is answered at once, and with a reason."""

import httpx

from chatmemory.longterm.memory_rules import MAX_FACTS
from chatmemory.programs.http.operations.memories import MOST_REMEMBERED
from tests.for_each import for_each

JSON = {"Content-Type": "application/json"}


@for_each(
    ("path", "body", "place"),
    [
        ("/memories", f'{{"memories": [{{"content": "好", "confidence": {"9" * 400}}}]}}', "confidence"),
        ("/memories", r'{"memories": [], "\ud83e": 1}', r"\ud83e"),
        ("/memories", r'{"memories": [{"content": "\ud83e"}]}', "content"),
        ("/memories", '{"memories": [{"content": "好", "key": "a", "value": 1e400}]}', "value"),
        ("/memories/recall", r'{"query": "\ud83e"}', "query"),
        (
            "/memories/turn",
            r'{"userContent": "a", "assistantContent": "b", "sessionId": "\ud83e"}',
            "session",
        ),
        ("/past-chats/search", r'{"query": "a", "limit": 1e300}', "limit"),
        ("/memory/extract", r'{"content": "a", "role": "\ud83e"}', "role"),
    ],
)
async def test_what_no_text_and_no_number_can_hold_is_a_problem_with_its_place(
    client: httpx.AsyncClient, path: str, body: str, place: str
) -> None:
    answer = await client.post(path, content=body, headers=JSON)
    assert answer.status_code == 422
    assert all(place in problem["path"] for problem in answer.json()["problems"])


async def test_a_body_full_of_mistakes_gets_an_answer_of_a_readable_length(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        "/conversations/c/messages", content=f'{{"messages": [{"1," * 400_000}1]}}', headers=JSON
    )
    assert answer.status_code == 422
    assert len(answer.content) < 10_000


async def test_so_many_memories_are_saved_at_once_and_no_more(client: httpx.AsyncClient) -> None:
    memories = [{"content": f"第 {number} 条"} for number in range(MOST_REMEMBERED + 1)]
    too_many = await client.post("/memories", json={"memories": memories})
    assert too_many.status_code == 422
    assert too_many.json()["problems"][0]["path"] == "$.body.memories"
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
