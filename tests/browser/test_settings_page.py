"""The settings view: what the server runs on, what is missing and what to do about it, how the page is shown."""

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import Visits


@pytest.fixture(scope="module")
def configuration() -> str:
    return '[memory.embedding]\nprovider = "none"\n'


def test_it_warns_when_no_embedder_runs_and_says_what_to_do(visit: Visits) -> None:
    page = visit().go("settings")
    expect(page.get_by_role("heading", name="What wants attention")).to_be_visible()
    expect(page.get_by_text("No embedder runs: memories are found by their words alone.")).to_be_visible()
    expect(page.get_by_text("memory.embedding.provider")).to_be_visible()
    expect(page.get_by_role("definition").filter(has_text="does not run")).to_have_count(1)


def test_it_says_what_the_server_runs_on(visit: Visits) -> None:
    page = visit(language="zh-CN").go("settings")
    for term, value in (
        ("存储", "SQLite"),
        ("技能", "抽取式（离线）"),
        ("提取器", "规则（离线）"),
        ("记忆归属", "default"),
    ):
        entry = page.get_by_role("term").filter(has_text=term).locator("xpath=..")
        expect(entry).to_contain_text(value)
    expect(page.get_by_text("没有运行嵌入模型：只能按词语查找记忆。")).to_be_visible()


def test_a_search_without_an_embedder_says_that_it_went_by_words(visit: Visits) -> None:
    page = visit().go("memories?query=tea")
    expect(page.get_by_role("status").filter(has_text="Searched by words only")).to_be_visible()


def test_language_and_appearance_are_chosen_and_remembered(visit: Visits) -> None:
    page = visit().go("settings")
    page.get_by_role("combobox", name="Appearance").select_option("dark")
    page.get_by_role("combobox", name="Language").select_option("zh")
    for _ in range(2):
        expect(page.get_by_role("heading", name="设置", level=1)).to_be_visible()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.reload()
