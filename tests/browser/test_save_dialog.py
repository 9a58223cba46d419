"""Document 002, "Automatic Memory Extraction in Save Dialog", as a person meets it: each scenario by its name, and beyond."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Language, Visits

PREFERENCE: Final = "我喜欢用 Python 写代码，因为它简洁易读"
FACTS: Final = "我是一名软件工程师，在北京工作"
ADVICE: Final = "根据您的偏好，我为您推荐使用 VS Code 作为 Python 开发环境"
SAVE: Final[Mapping[Language, str]] = {"en-GB": "Save to long-term memory", "zh-CN": "保存到长期记忆"}
LABELS: Final[Mapping[Language, Sequence[str]]] = {
    "en-GB": ("Key", "Value", "Category", "Confidence"),
    "zh-CN": ("键名", "值", "类别", "置信度"),
}

USER: Final = ("user", "用户输入")
ASSISTANT: Final = ("assistant", "AI回复")


@pytest.fixture
def page(visit: Visits) -> Page:
    return visit().page


def opened(
    page: Page, api: Api, content: str, *, role: str = "user", language: Language = "en-GB"
) -> Locator:
    """Say *content* in a conversation, press the button beside it, and return the dialog."""
    api.say("chat/项目", {"id": "m1", "role": role, "content": content})
    page.goto(f"{api.url}#/conversations/chat%2F%E9%A1%B9%E7%9B%AE")
    page.get_by_role("button", name=SAVE[language]).click()
    dialog = page.get_by_role("dialog", name=SAVE[language])
    expect(dialog).to_be_visible()
    return dialog


def fields(dialog: Locator, language: Language = "en-GB") -> Sequence[Locator]:
    """Return the fields: key, value, category, confidence."""
    return [dialog.get_by_label(label, exact=True) for label in LABELS[language]]


def expect_fields(dialog: Locator, *values: str, language: Language = "en-GB") -> None:
    for field, value in zip(fields(dialog, language), values, strict=True):
        expect(field).to_have_value(value)


def holding(page: Page) -> list[Route]:
    """Keep the extraction waiting, until the test lets it go on."""
    held: list[Route] = []
    page.route("**/memory/extract", lambda route: held.append(route))  # noqa: PLW0108  a built-in method has no signature
    return held


def proposed(extraction: Mapping[str, Any]) -> tuple[str, str, str, str]:
    key, value, category, confidence = (
        extraction[name] for name in ("key", "value", "category", "confidence")
    )
    return key, value, category, f"{confidence:g}"


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_auto_extract_on_dialog_open(visit: Visits, api: Api, language: Language) -> None:
    page = visit(language=language).page
    held = holding(page)
    dialog = opened(page, api, PREFERENCE, language=language)
    expect(dialog).to_have_attribute("aria-busy", "true")
    expect(dialog.get_by_text({"en-GB": "Looking for", "zh-CN": "正在"}[language])).to_be_visible()
    expect_fields(dialog, "用户输入", PREFERENCE, "fact", "0.8", language=language)
    (route,) = held
    assert route.request.post_data_json == {"content": PREFERENCE, "role": "user"}
    route.continue_()
    expect(dialog).to_have_attribute("aria-busy", "false")
    expect_fields(dialog, *proposed(api.extract(PREFERENCE)), language=language)


@pytest.mark.parametrize(
    ("content", "role"),
    [
        (PREFERENCE, "user"),
        (ADVICE, "assistant"),
        ("I prefer window seats on long flights.", "user"),
    ],
)
def test_pre_fill_form_with_extracted_data(page: Page, api: Api, content: str, role: str) -> None:
    dialog = opened(page, api, content, role=role)
    expected = proposed(api.extract(content, role))
    assert expected[0] not in {"", "用户输入", "AI回复"}
    expect_fields(dialog, *expected)
    expect(dialog.get_by_role("slider", name="Confidence")).to_have_value(expected[3])
    expect(dialog.get_by_role("combobox", name="Category")).to_have_value(expected[2])


FAILURES: Final[Mapping[str, Callable[[Route], None]]] = {
    "a server error": lambda route: route.fulfill(status=500, body="oops"),
    "a problem": lambda route: route.fulfill(
        status=503, content_type="application/problem+json", body='{"tag": "OverloadedError", "status": 503}'
    ),
    "no server": lambda route: route.abort("connectionrefused"),
    "no JSON": lambda route: route.fulfill(status=200, body="<!doctype html>"),
}


@pytest.mark.parametrize(
    ("failure", "role", "key"),
    [(failure, *who) for failure, who in zip(FAILURES, cycle((USER, ASSISTANT)), strict=False)],
)
def test_fallback_on_extraction_failure(visit: Visits, api: Api, failure: str, role: str, key: str) -> None:
    visitor = visit()
    visitor.expect_trouble("/memory/extract")
    visitor.page.route("**/memory/extract", FAILURES[failure])
    dialog = opened(visitor.page, api, PREFERENCE, role=role)
    expect(dialog.get_by_text("did not work")).to_be_visible()
    expect(dialog).to_have_attribute("aria-busy", "false")
    expect_fields(dialog, key, PREFERENCE, "fact", "0.8")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    (memory,) = api.memories(memoryType="long_term")
    assert (memory["key"], memory["content"]) == (key, PREFERENCE)


@pytest.mark.parametrize(("role", "key"), [USER, ASSISTANT])
def test_fallback_on_low_confidence(visit: Visits, api: Api, role: str, key: str) -> None:
    page = visit(language="zh-CN").page
    assert api.extract("好的", role)["confidence"] < 0.5
    dialog = opened(page, api, "好的", role=role, language="zh-CN")
    expect(dialog.get_by_text("已填入消息原文")).to_be_visible()
    expect_fields(dialog, key, "好的", "fact", "0.8", language="zh-CN")


def test_a_proposal_below_one_half_is_not_filled_in(page: Page, api: Api) -> None:
    answer = {**api.extract(PREFERENCE), "confidence": 0.49}
    page.route("**/memory/extract", lambda route: route.fulfill(json=answer))
    dialog = opened(page, api, PREFERENCE)
    expect(dialog.get_by_text("Nothing in particular")).to_be_visible()
    expect_fields(dialog, "用户输入", PREFERENCE, "fact", "0.8")


def test_what_the_person_has_typed_wins_over_a_late_answer(page: Page, api: Api) -> None:
    held = holding(page)
    dialog = opened(page, api, PREFERENCE)
    key, _, category, confidence = fields(dialog)
    key.fill("我的语言")
    confidence.fill("0.3")
    held[0].continue_()
    expect(category).to_have_value("preference")  # the answer is there
    expect_fields(dialog, "我的语言", "Python", "preference", "0.3")


def test_the_dialog_waits_for_no_answer(page: Page, api: Api) -> None:
    holding(page)
    dialog = opened(page, api, PREFERENCE)
    fields(dialog)[0].fill("语言")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    (memory,) = api.memories(memoryType="long_term")
    assert (memory["key"], memory["value"]) == ("语言", PREFERENCE)


def test_another_of_several_proposals_can_be_chosen(page: Page, api: Api) -> None:
    dialog = opened(page, api, FACTS)
    for proposal in reversed(api.extract(FACTS)["proposals"]):
        dialog.get_by_role("button", name=proposal["key"]).click()
        expect_fields(dialog, *proposed(proposal))
    dialog.get_by_role("button", name="The message itself").click()
    expect_fields(dialog, "用户输入", FACTS, "fact", "0.8")


def test_a_saved_memory_is_recalled_with_where_it_comes_from(page: Page, api: Api) -> None:
    dialog = opened(page, api, PREFERENCE)
    expect_fields(dialog, *proposed(api.extract(PREFERENCE)))
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("Saved to long-term memory")).to_be_visible()
    (memory,) = api.recall("写代码用什么语言")
    assert (memory["key"], memory["value"], memory["category"]) == ("编程语言偏好", "Python", "preference")
    assert (memory["source"], memory["memoryType"], memory["role"]) == ("user_stated", "long_term", "user")
    assert memory["sessionId"] == "chat/项目"
    assert memory["provenance"] == {"messageIds": ["m1"], "extractor": "person", "path": None}


def test_what_is_remembered_already_is_said_to_be(page: Page, api: Api) -> None:
    for said in ("Saved to long-term memory", "remembered already"):
        dialog = opened(page, api, PREFERENCE)
        expect_fields(dialog, *proposed(api.extract(PREFERENCE)))
        dialog.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text(said)).to_be_visible()
    assert len(api.memories()) == 1


def test_what_was_forgotten_is_said_not_to_come_back_from_the_same_message(page: Page, api: Api) -> None:
    for said in ("Saved to long-term memory", "does not come back from the same message"):
        dialog = opened(page, api, PREFERENCE)
        expect_fields(dialog, *proposed(api.extract(PREFERENCE)))
        dialog.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text(said)).to_be_visible()
        for memory in api.memories():
            api.client.delete(f"/memories/{memory['id']}").raise_for_status()
        page.reload()


def test_a_failed_save_keeps_the_form_and_can_be_repeated(visit: Visits, api: Api) -> None:
    visitor = visit()
    visitor.expect_trouble("/memories")
    page = visitor.page
    page.route("**/memories", lambda route: route.fulfill(status=500, body="oops"), times=1)
    dialog = opened(page, api, PREFERENCE)
    key, value, _, _ = fields(dialog)
    expect(value).to_have_value("Python")
    key.fill("最喜欢的语言")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(key).to_have_value("最喜欢的语言")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    assert [memory["key"] for memory in api.memories()] == ["最喜欢的语言"]


def test_a_save_whose_answer_was_lost_is_not_stored_twice(visit: Visits, api: Api) -> None:
    visitor = visit()
    visitor.expect_trouble("/memories")
    page = visitor.page

    keys: list[str | None] = []

    def lose_the_first_answer(route: Route) -> None:
        keys.append(route.request.header_value("Idempotency-Key"))
        if len(keys) > 1:
            route.continue_()
        else:
            route.fetch()
            route.abort("connectionreset")

    page.route("**/memories", lose_the_first_answer)
    dialog = opened(page, api, PREFERENCE)
    expect(fields(dialog)[1]).to_have_value("Python")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    assert len(api.memories()) == 1
    first, second = keys
    assert first
    assert first == second


def test_nothing_is_saved_without_a_value(page: Page, api: Api) -> None:
    dialog = opened(page, api, PREFERENCE)
    value = fields(dialog)[1]
    expect(value).to_have_value("Python")
    value.fill("  ")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()


def test_a_value_may_be_json_and_is_checked(page: Page, api: Api) -> None:
    dialog = opened(page, api, PREFERENCE)
    value = fields(dialog)[1]
    expect(value).to_have_value("Python")
    dialog.get_by_label("Edit as JSON").check()
    value.fill('{"语言": ["Python"')
    expect(value).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    value.fill('{"语言": ["Python"]}')
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    assert [memory["value"] for memory in api.memories()] == [{"语言": ["Python"]}]


@pytest.mark.parametrize("way_out", ["Escape", "Cancel", "Close"])
def test_leaving_saves_nothing_and_gives_the_focus_back(page: Page, api: Api, way_out: str) -> None:
    dialog = opened(page, api, PREFERENCE)
    if way_out == "Escape":
        page.keyboard.press("Escape")
    else:
        dialog.get_by_role("button", name=way_out).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Save to long-term memory")).to_be_focused()
    assert api.memories() == []
