"""A server with settings of its own: they are shown, and where history is summarized each summary is folded over what it stands for."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

TALK = [{"role": "user", "content": f"第 {n} 点：服务器端口改为 80{n:02}。"} for n in range(14)]


@pytest.fixture(scope="module")
def configuration() -> str:
    """Summarize whenever six messages have no summary yet, and embed nothing."""
    strategy = '[memory.chat.strategy]\ntype = "summarize"\nsummarizeEveryN = 6\nkeepLast = 2\n'
    return strategy + '[memory.embedding]\nprovider = "none"\n'


def entries(shown: Locator) -> Locator:
    """Return what can be seen of the conversation, one link for each message and summary."""
    return shown.get_by_role("link", name="Link to message")


def test_a_summary_is_folded_over_what_it_stands_for_and_nothing_is_lost(visit: Visits, api: Api) -> None:
    for number, message in enumerate(TALK):
        api.say("talk", {"id": f"m{number}", **message})
    stored = api.messages("talk")
    summaries = sum(message["role"] == "summary" for message in stored)
    assert summaries > 1
    visitor = visit()
    page = visitor.go("conversations/talk?message=m1")  # which unfolds the summary over it
    wanted = page.get_by_role("listitem").filter(has_text="第 1 点").last
    expect(wanted).to_be_in_viewport()
    expect(wanted).to_be_focused()

    visitor.go("conversations")
    expect(wanted).to_be_hidden()
    visitor.go("conversations/talk")
    shown = page.get_by_role("region", name="talk")
    expect(shown.get_by_text(TALK[-1]["content"], exact=True)).to_be_visible()
    expect(shown.get_by_text(TALK[0]["content"], exact=True)).to_be_hidden()
    folded = entries(shown).count()
    assert folded < len(TALK)
    assert shown.get_by_text("stands for").count() >= 1
    for _ in range(summaries):
        shown.locator("details:not([open]) > summary").first.click()
    expect(entries(shown)).to_have_count(len(stored))
    for message in TALK:
        expect(shown.get_by_text(message["content"], exact=True)).to_be_visible()


def test_a_summary_that_is_written_meanwhile_folds_what_is_on_the_page(visit: Visits, api: Api) -> None:
    api.say("talk", *TALK[:5])
    page = visit().go("conversations/talk")
    shown = page.get_by_role("region", name="talk")
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    api.say("talk", TALK[5])
    expect(shown.get_by_text("stands for").first).to_be_visible()
    expect(shown.get_by_role("listitem").filter(has_text="第 5 点").last).to_be_visible()
    for message in TALK[:4]:  # all but the last two
        expect(shown.get_by_text(message["content"], exact=True)).to_be_hidden()
    page = visit(language="zh-CN").go("conversations/talk")
    expect(page.get_by_text("所概括的").first).to_be_visible()


def test_it_says_what_the_server_runs_on_what_is_missing_and_what_to_do(visit: Visits) -> None:
    visitor = visit()
    page = visitor.go("settings")
    expect(page.get_by_role("heading", name="What wants attention")).to_be_visible()
    expect(page.get_by_text("No embedder runs: memories are found by their words alone.")).to_be_visible()
    expect(page.get_by_text("memory.embedding.provider")).to_be_visible()
    expect(page.get_by_role("definition").filter(has_text="does not run")).to_have_count(1)
    for term, value in (
        ("Store", "SQLite"),
        ("Skills", "extractive, offline"),
        ("Extractor", "rules, offline"),
        ("Whose memories", "default"),
    ):
        entry = page.get_by_role("term").filter(has_text=term).locator("xpath=..")
        expect(entry).to_contain_text(value)

    visitor.go("memories?query=tea")
    expect(page.get_by_role("status").filter(has_text="Searched by words only")).to_be_visible()
