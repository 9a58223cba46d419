"""What a model would see: the messages, the tokens, the reasons, the settings to try, the past and the forks."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visitor, Visits

TITLE = "What would the model see?"
SAID = tuple(
    {"id": f"m{number}", "role": "user" if number % 2 else "assistant", "content": f"句子 {number}"}
    for number in range(1, 9)
)


@pytest.fixture(autouse=True)
def _talk(api: Api) -> None:
    api.say("trip", *SAID)
    api.remember(
        {"id": "tea", "content": "Mei drinks green tea", "category": "preference"},
        {"id": "car", "content": "我的车停在地下二层", "category": "fact"},
    )


@pytest.fixture
def visitor(visit: Visits) -> Visitor:
    return visit()


@pytest.fixture
def page(visitor: Visitor) -> Page:
    page = visitor.go("conversations/trip")
    page.get_by_role("link", name=TITLE).click()
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    return page


def ask(page: Page, message: str = "which green tea?") -> None:
    page.get_by_label("What the user says next").fill(message)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(seen(page).first).to_be_visible()


def seen(page: Page) -> Locator:
    return page.get_by_role("region", name="Messages, in order").get_by_role("listitem")


def why(page: Page) -> Locator:
    return page.get_by_role("region", name="Memories, and why").get_by_role("listitem")


def test_the_messages_stand_in_order_with_their_tokens_and_each_memory_says_why(page: Page, api: Api) -> None:
    expect(page.get_by_text("Write what the user would say next")).to_be_visible()
    ask(page)
    expect(seen(page)).to_have_count(len(SAID) + 2)
    expect(seen(page).first).to_contain_text("Mei drinks green tea")
    expect(seen(page).nth(1)).to_contain_text("句子 1")
    expect(seen(page).last).to_contain_text("which green tea?")
    parts = page.get_by_role("region", name="Tokens by part")
    total = int(re.findall(r"\d+", parts.get_by_role("status").inner_text())[0])
    numbers = [int(text) for text in parts.locator("dd").all_inner_texts()]
    assert len(numbers) == 3
    assert sum(numbers) == total
    shown = [int(text.split()[0]) for text in page.locator(".seen-message .tokens").all_inner_texts()]
    assert sum(shown) == total
    expect(why(page).filter(has_text="Mei drinks green tea")).to_contain_text("Included")
    expect(why(page).filter(has_text="Mei drinks green tea")).to_contain_text("Score")
    expect(why(page).filter(has_text="我的车")).to_contain_text("not similar enough to the message")
    page.get_by_role("link", name="tea", exact=True).click()
    expect(page.get_by_role("article").filter(has_text="Mei drinks green tea")).to_be_visible()

    api.say("trip", {"id": "late", "role": "user", "content": "最后一句"})
    page.go_back()
    expect_the_slider_to_lead_back_in_time(page)


def expect_the_slider_to_lead_back_in_time(page: Page) -> None:
    """See a late message now, and not as of the beginning of the conversation."""
    late = seen(page).filter(has_text="最后一句")
    expect(late).to_have_count(1)
    slider = page.get_by_role("slider", name=re.compile("As of"))
    expect(slider).to_have_attribute("aria-valuetext", "now")
    slider.focus()
    page.keyboard.press("Home")
    expect(late).to_have_count(0)
    expect(seen(page).filter(has_text="句子 8")).to_have_count(1)
    page.keyboard.press("End")
    expect(late).to_have_count(1)


def test_a_budget_and_a_strategy_are_tried_by_the_address(visitor: Visitor, page: Page, api: Api) -> None:
    visitor.expect_trouble("status of 422")
    ask(page, "more?")
    budget = page.get_by_label("Budget in tokens")
    budget.fill("20")
    budget.press("Tab")
    out = page.get_by_role("region", name="Messages left out")
    expect(out).to_contain_text("no room in the budget")
    parts = page.get_by_role("region", name="Tokens by part")
    expect(parts.get_by_role("status")).to_contain_text("/ 20 tokens")
    budget.fill("")
    budget.press("Tab")
    expect(out).to_have_count(0)
    page.get_by_label("Strategy").select_option("summarize")
    every = page.get_by_label("N messages")
    every.fill("3")
    every.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("less than")
    every.fill("6")
    every.press("Tab")
    expect(out).to_contain_text("4 messages: the strategy would put a summary in their place")
    expect(seen(page).first).to_contain_text("句子 5")
    page.reload()
    expect(out).to_contain_text("4 messages: the strategy")
    out.get_by_role("link", name="m2").click()
    expect(page.locator(".is-wanted")).to_contain_text("句子 2")
    assert len(api.messages("trip")) == len(SAID)


def test_the_forks_are_a_tree_that_leads_to_each(page: Page, api: Api) -> None:
    forks = page.get_by_role("region", name="Forks")
    expect(forks).to_contain_text("no branches")
    for parent, branch in (("trip", "by rail"), ("by rail", "by night train"), ("trip", "by bicycle")):
        api.fork(parent, branch, at="m4")
    page.reload()
    items = forks.get_by_role("listitem")
    expect(items).to_have_count(4)
    expect(items.first.locator("ul").get_by_role("link", name="by night train")).to_be_visible()
    forks.get_by_role("link", name="by night train").click()
    expect(page.locator(".pane-id")).to_have_text("by night train")
    ask(page)
    expect(seen(page)).to_have_count(4 + 2)
