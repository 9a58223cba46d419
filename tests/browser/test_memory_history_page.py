"""The history of a memory on its page: what happened to it, what it said before, and the way back."""

from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits


def test_the_newest_change_comes_first_and_each_is_taken_back(visit: Visits, api: Api) -> None:
    memory_id = f"m-{uuid4()}"  # of which nothing is on record: the log outlives what is forgotten
    api.remember({"id": memory_id, "content": "Drinks green tea", "category": "preference"})
    api.correct(memory_id, content="Drinks white tea")
    page = visit().go(f"memories/{memory_id}")
    memory = page.get_by_role("article")
    changes = page.locator(".history-events > li")
    take_back = page.get_by_role("button", name="Take this back")
    page.get_by_text("History", exact=True).click()
    expect(changes).to_have_count(2)
    expect(changes.first).to_contain_text("Corrected")
    expect(changes.first).to_contain_text("Drinks green tea")  # which it said before
    expect(changes.last).to_contain_text("Remembered")

    api.client.put(f"/memories/{memory_id}/pin", json={"pinned": True}).raise_for_status()
    take_back.click()  # the correction, which the page has shown; what came meanwhile stays
    expect(memory).to_contain_text("Drinks green tea")
    expect(changes).to_have_count(4)
    expect(changes.first).to_contain_text("to take a change back")
    expect_stored(api, memory_id, "Drinks green tea", pinned=True)
    take_back.click()
    expect(memory).to_contain_text("Drinks white tea")

    unpin = page.get_by_role("button", name="Unpin", exact=True)
    unpin.click()
    expect(changes.first).to_contain_text("No longer pinned")
    take_back.click()
    expect(memory.get_by_text("Pinned", exact=True)).to_be_visible()
    expect_stored(api, memory_id, "Drinks white tea", pinned=True)
    unpin.click()
    expect(changes.first).to_contain_text("No longer pinned")

    succeed_and_take_back(page, api, memory_id)
    assert [memory["content"] for memory in api.memories()] == ["Drinks white tea"]


def expect_stored(api: Api, memory_id: str, content: str, *, pinned: bool) -> None:
    memory = api.memory(memory_id)
    assert memory is not None
    assert (memory["content"], memory["pinned"]) == (content, pinned)


def succeed_and_take_back(page: Page, api: Api, memory_id: str) -> None:
    """Put another memory in the place of one, see it one click away, and let it give way."""
    successor = {"memory": {"content": "Drinks oolong"}}
    api.client.post(f"/memories/{memory_id}/supersede", json=successor).raise_for_status()
    page.reload()
    page.get_by_text("History", exact=True).click()
    newest = page.locator(".history-events > li").first
    expect(newest).to_contain_text("Superseded")
    expect(newest.get_by_role("link", name="What took its place")).to_be_visible()
    page.get_by_role("button", name="Take this back").click()
    expect(newest).to_contain_text("True again")
