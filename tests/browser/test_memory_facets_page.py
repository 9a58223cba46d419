"""How many memories there are of each kind, each count a way to them; and those that are true no longer."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits


@pytest.fixture
def page(visit: Visits, api: Api) -> Page:
    api.remember(
        {"id": "a", "content": "Drinks green tea", "category": "preference"},
        {"id": "b", "content": "在北京工作", "category": "fact"},
        {"id": "c", "content": "Ships on Thursdays", "category": "fact", "source": "inferred"},
        {"id": "d", "content": "没有类别", "memoryType": "short_term"},
    )
    page = visit().go("memories")
    expect(cards(page)).to_have_count(4)
    return page


def cards(page: Page) -> Locator:
    return page.get_by_role("article")


def facets(page: Page) -> Locator:
    return page.get_by_role("group", name="How many memories")


def test_the_page_says_how_many_there_are_of_each_kind(page: Page) -> None:
    expect(facets(page)).to_contain_text("4 memories")
    for name in (
        "Fact 2",
        "Preference 1",
        "Long-term 2",
        "Short-term 2",
        "stated by the user 3",
        "inferred 1",
    ):
        expect(facets(page).get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(facets(page)).to_contain_text("No category 1")


def test_a_count_leads_to_its_memories_and_back(page: Page) -> None:
    fact = facets(page).get_by_role("button", name="Fact 2", exact=True)
    fact.click()
    expect(cards(page)).to_have_count(2)
    expect(fact).to_have_attribute("aria-pressed", "true")
    expect(facets(page)).to_contain_text("2 memories")
    expect(facets(page).get_by_role("button", name="Preference 1")).to_be_visible()  # which are still there
    expect(page.get_by_role("combobox", name="Category")).to_have_value("fact")
    facets(page).get_by_role("button", name="inferred 1").click()
    expect(cards(page)).to_have_count(1)
    expect(facets(page)).to_contain_text("1 memory")
    page.reload()
    expect(cards(page)).to_have_count(1)
    facets(page).get_by_role("button", name="inferred 1").click()
    facets(page).get_by_role("button", name="Fact 2").click()
    expect(cards(page)).to_have_count(4)


def test_what_is_true_no_longer_is_shown_when_it_is_asked_for(page: Page, api: Api) -> None:
    answer = api.client.post("/memories/a/supersede", json={"memory": {"content": "Drinks oolong"}})
    assert answer.is_success
    page.get_by_role("combobox", name="State").select_option("ended")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("Drinks green tea")
    expect(cards(page)).to_contain_text("Superseded")
    expect(facets(page)).to_contain_text("1 memory")
    page.get_by_role("combobox", name="Source").select_option("inferred")
    expect(cards(page)).to_have_count(0)
    expect(page.get_by_text("No memory fits these filters.")).to_be_visible()


def test_the_counts_follow_what_is_changed_and_forgotten(page: Page) -> None:
    short = cards(page).filter(has_text="没有类别")
    short.get_by_role("button", name="Make long-term").click()
    expect(facets(page).get_by_role("button", name="Long-term 3")).to_be_visible()
    short.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Dismiss").last.click()
    expect(facets(page)).to_contain_text("3 memories")
