"""The history of a memory on its page: what happened to it, what it said before, and the way back."""

from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits


@pytest.fixture
def memory_id() -> str:
    """Return an id of which nothing is on record: the log outlives what is forgotten."""
    return f"m-{uuid4()}"


@pytest.fixture
def page(visit: Visits, api: Api, memory_id: str) -> Page:
    api.remember({"id": memory_id, "content": "Drinks green tea", "category": "preference"})
    api.correct(memory_id, content="Drinks white tea")
    page = visit().go(f"memories/{memory_id}")
    expect(page.get_by_role("article")).to_contain_text("Drinks white tea")
    page.get_by_text("History", exact=True).click()
    expect(changes(page)).to_have_count(2)
    return page


def changes(page: Page) -> Locator:
    return page.locator(".history-events > li")


def test_the_newest_change_comes_first_with_what_was_said_before(page: Page) -> None:
    expect(changes(page).first).to_contain_text("Corrected")
    expect(changes(page).first).to_contain_text("Drinks green tea")
    expect(changes(page).last).to_contain_text("Remembered")


def test_a_correction_is_taken_back_and_made_again(page: Page, api: Api, memory_id: str) -> None:
    page.get_by_role("button", name="Take this back").click()
    expect(page.get_by_role("article")).to_contain_text("Drinks green tea")
    expect(changes(page)).to_have_count(3)
    expect(changes(page).first).to_contain_text("to take a change back")
    memory = api.memory(memory_id)
    assert memory is not None
    assert memory["content"] == "Drinks green tea"
    page.get_by_role("button", name="Take this back").click()
    expect(page.get_by_role("article")).to_contain_text("Drinks white tea")


def test_what_is_done_on_the_card_is_told_and_taken_back(page: Page, api: Api, memory_id: str) -> None:
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(changes(page).first).to_contain_text("Pinned")
    page.get_by_role("button", name="Take this back").click()
    expect(changes(page).first).to_contain_text("No longer pinned")
    memory = api.memory(memory_id)
    assert memory is not None
    assert memory["pinned"] is False


def test_a_successor_is_one_click_away_and_gives_way(page: Page, api: Api, memory_id: str) -> None:
    answer = api.client.post(
        f"/memories/{memory_id}/supersede", json={"memory": {"content": "Drinks oolong"}}
    )
    assert answer.is_success
    page.reload()
    page.get_by_text("History", exact=True).click()
    expect(changes(page).first).to_contain_text("Superseded")
    expect(changes(page).first.get_by_role("link", name="What took its place")).to_be_visible()
    page.get_by_role("button", name="Take this back").click()
    expect(changes(page).first).to_contain_text("True again")
    assert [memory["content"] for memory in api.memories()] == ["Drinks white tea"]


def test_another_change_that_came_meanwhile_stays(page: Page, api: Api, memory_id: str) -> None:
    api.client.put(f"/memories/{memory_id}/pin", json={"pinned": True}).raise_for_status()
    page.get_by_role("button", name="Take this back").click()  # the correction, which the page has shown
    expect(page.get_by_role("article")).to_contain_text("Drinks green tea")
    memory = api.memory(memory_id)
    assert memory is not None
    assert memory["pinned"] is True
