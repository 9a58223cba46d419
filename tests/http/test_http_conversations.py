"""Conversations over HTTP: the routes, what they answer, and the headers; what they promise is tested at their service."""

from typing import Any
from urllib.parse import quote

import httpx

from tests.for_each import for_each
from tests.http_api import problem, said, wrong_places

IDS = ["c", "会议/第一", "a b?c#d", "%2F", "..x", 'o\'brien "quoted"']


def at(conversation_id: str, *rest: str) -> str:
    return "/".join(["/conversations", quote(conversation_id, safe=""), *rest])


async def add(client: httpx.AsyncClient, conversation_id: str, *texts: str) -> Any:
    answer = await client.post(at(conversation_id, "messages"), json=said(*texts))
    assert answer.status_code == 201, answer.text
    return answer.json()


@for_each("conversation_id", IDS)
async def test_a_conversation_comes_into_being_with_its_first_message(
    client: httpx.AsyncClient, conversation_id: str
) -> None:
    unknown = await client.get(at(conversation_id))
    assert problem(unknown) == "404 ConversationNotFoundError"
    report = await add(client, conversation_id, "你好", "hello")
    assert (len(report["stored"]), report["duplicates"], report["history"]["status"]) == (2, [], "idle")
    found = await client.get(at(conversation_id))
    assert found.headers["etag"] == f'"{report["version"]}"'
    assert (found.json()["conversationId"], found.json()["messageCount"]) == (conversation_id, 2)
    page = (await client.get(at(conversation_id, "messages"))).json()
    assert [message["content"] for message in page["messages"]] == ["你好", "hello"]


async def test_conversations_are_listed_with_their_openings_page_by_page(client: httpx.AsyncClient) -> None:
    opening = {
        "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "早\n上好"}]
    }
    await client.post(at("一", "messages"), json=opening)
    await add(client, "二", "x" * 500)
    await add(client, "三")
    first = (await client.get("/conversations", params={"limit": 1})).json()
    rest = (await client.get("/conversations", params={"limit": 1, "after": first["next"]})).json()
    listed = [*first["conversations"], *rest["conversations"]]
    openings = {one["conversation"]["conversationId"]: one["opening"] for one in listed}
    assert set(openings) == {"一", "二"}  # in the third nothing was said
    assert (openings["一"], len(openings["二"]) <= 121) == ("早 上好", True)
    assert rest["next"] is None


async def test_a_conversation_is_read_as_of_a_version_or_a_time(client: httpx.AsyncClient) -> None:
    await add(client, "past", "一")
    await add(client, "past", "二", "三")
    for as_of, texts in ((0, []), (1, ["一"]), (2, ["一", "二", "三"]), ("2001-02-03T04:05:06Z", [])):
        page = (await client.get(at("past", "messages"), params={"asOf": as_of})).json()
        assert ([message["content"] for message in page["messages"]], page["isWhole"]) == (texts, True)
    for wrong, words in ((3, "the conversation is at version 2"), ("noon", "no ISO 8601 instant"), (-1, "0")):
        answer = await client.get(at("past", "messages"), params={"asOf": wrong})
        assert answer.status_code == 422
        assert words in answer.text


async def test_a_branch_names_its_parent_and_what_is_no_branch_is_refused(client: httpx.AsyncClient) -> None:
    await add(client, "trip", "一", "二", "三")
    answer = await client.post(at("trip", "fork"), json={"newId": "by rail", "version": 1})
    assert (answer.status_code, answer.json()["isNew"]) == (201, True)
    found = (await client.get(at("by rail"))).json()
    assert found["forkedFrom"] == {"conversationId": "trip", "version": 1, "seq": 3}
    for body, status in (
        ({"newId": "by rail", "version": 1}, 201),
        ({"newId": "trip"}, 412),
        ({"newId": "by air", "at": "no such message"}, 422),
        ({"newId": "by air", "at": "a", "version": 1}, 422),
    ):
        assert (await client.post(at("trip", "fork"), json=body)).status_code == status
    assert (await client.post(at("nowhere", "fork"), json={"newId": "x"})).status_code == 404


async def test_the_newest_change_is_taken_back(client: httpx.AsyncClient) -> None:
    await add(client, "trip", "一")
    await add(client, "trip", "二", "三")
    stale = await client.post(at("trip", "undo"), json={"expectedVersion": 1})
    assert problem(stale) == "412 VersionConflictError"
    undone = (await client.post(at("trip", "undo"), json={})).json()
    assert undone == {"action": "added", "version": 3, "removed": 2, "restored": 0, "heldBy": None}
    again = await client.post(at("trip", "undo"), json={})
    assert problem(again) == "409 NotUndoableError"


async def test_clearing_names_the_branches_that_hold_it_still(client: httpx.AsyncClient) -> None:
    await add(client, "trip", "一", "二")
    await client.post(at("trip", "fork"), json={"newId": "by rail"})
    cleared = (await client.delete(at("trip", "messages"))).json()
    assert (cleared["messages"], cleared["summaries"]) == (2, 0)
    assert (cleared["clearedToo"], cleared["stillSharedBy"]) == ([], ["by rail"])
    undone = (await client.post(at("trip", "undo"), json={})).json()
    assert (undone["action"], undone["restored"], undone["heldBy"]) == ("cleared", 2, "by rail")
    both = (await client.delete(at("trip", "messages"), params={"withBranches": True})).json()
    assert (both["clearedToo"], both["stillSharedBy"]) == (["by rail"], [])
    assert (await client.get(at("by rail", "messages"))).status_code == 404
    assert (await client.delete(at("trip", "messages"))).json()["tag"] == "ConversationNotFoundError"


async def test_a_version_is_in_a_header_by_which_a_stale_writer_is_told_so_and_the_same_is_not_sent_again(
    client: httpx.AsyncClient,
) -> None:
    await add(client, "c", "one")
    for path in (at("c"), at("c", "messages")):
        etag = (await client.get(path)).headers["etag"]
        unchanged = await client.get(path, headers={"If-None-Match": etag})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
    await add(client, "c", "two")
    assert (await client.get(at("c"), headers={"If-None-Match": etag})).status_code == 200
    stale = await client.post(at("c", "messages"), json=said("three"), headers={"If-Match": etag})
    assert problem(stale) == "412 VersionConflictError"
    assert 'send If-Match: "2"' in stale.json()["detail"]
    etag = (await client.get(at("c", "messages"))).headers["etag"]
    fresh = await client.post(at("c", "messages"), json=said("three"), headers={"If-Match": etag})
    assert fresh.status_code == 201


async def test_a_message_of_another_content_keeps_its_id_to_itself(client: httpx.AsyncClient) -> None:
    async def write(content: str) -> httpx.Response:
        message = {"role": "user", "content": content, "id": "m1"}
        return await client.post(at("c", "messages"), json={"messages": [message]})

    assert (await write("one")).json()["stored"] == ["m1"]
    assert (await write("one")).json()["duplicates"] == ["m1"]
    taken = await write("two")
    assert problem(taken) == "409 MessageConflictError"
    no_summary = await client.get(at("c", "summaries", "m1"))
    assert problem(no_summary) == "404 SummaryNotFoundError"


@for_each(
    ("segment", "conversation_id"),
    [("=.", "."), ("=..", ".."), ("==.", "=."), ("=...", "=..."), ("=x", "=x")],
)
async def test_an_id_that_a_browser_takes_for_a_folder_has_an_equals_sign_before_it(
    client: httpx.AsyncClient, segment: str, conversation_id: str
) -> None:
    await client.post(f"/conversations/{segment}/messages", json=said("hello"))
    found = await client.get(f"/conversations/{segment}")
    assert found.json()["conversationId"] == conversation_id


async def test_a_search_in_an_app_whose_name_is_too_long_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post("/messages/search", params={"app": "x" * 513}, json={"query": "tea"})
    assert wrong_places(answer)[0] == "$.query.app"
