"""Document 002, "Automatic Memory Extraction in Save Dialog", as a person meets it: each scenario by its name, and beyond."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

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
FLIGHT: Final = "I prefer window seats on long flights."
CHAT: Final = "chat/项目"
USER: Final = ("user", "user input")
ASSISTANT: Final = ("assistant", "AI reply")


def opened(
    page: Page, api: Api, content: str, *, role: str = "user", chat: str = CHAT, language: Language = "en-GB"
) -> Locator:
    """Say *content* in a conversation, press the button beside it, and return the dialog."""
    api.say(chat, {"id": f"m of {chat}", "role": role, "content": content})
    page.goto(f"{api.url}#/conversations/{quote(chat, safe='')}")
    shown = page.get_by_role("region", name=chat, exact=True)
    shown.get_by_role("button", name=SAVE[language]).click()
    dialog = page.get_by_role("dialog", name=SAVE[language])
    expect(dialog).to_be_visible()
    return dialog


def save(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Save", exact=True).click()


def fields(dialog: Locator, language: Language = "en-GB") -> Sequence[Locator]:
    """Return the fields: key, value, category, confidence."""
    return [dialog.get_by_label(label, exact=True) for label in LABELS[language]]


def expect_fields(dialog: Locator, *values: str, language: Language = "en-GB") -> None:
    for field, value in zip(fields(dialog, language), values, strict=True):
        expect(field).to_have_value(value)


def holding(page: Page) -> list[Route]:
    held: list[Route] = []
    page.route("**/memory/extract", lambda route: held.append(route))  # noqa: PLW0108  a built-in method has no signature
    return held


def proposed(extraction: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return extraction["key"], extraction["value"], extraction["category"], f"{extraction['confidence']:g}"


def test_auto_extract_on_dialog_open(page: Page, api: Api) -> None:
    held = holding(page)
    with page.expect_request("**/memory/extract"):
        dialog = opened(page, api, PREFERENCE)
    expect(dialog).to_have_attribute("aria-busy", "true")
    expect(dialog.get_by_text("Looking for")).to_be_visible()
    expect_fields(dialog, USER[1], PREFERENCE, "fact", "0.8")
    (route,) = held
    assert route.request.post_data_json == {"content": PREFERENCE, "role": "user"}
    route.continue_()
    expect(dialog).to_have_attribute("aria-busy", "false")
    expect_fields(dialog, *proposed(api.extract(PREFERENCE)))


def test_pre_fill_form_with_extracted_data(page: Page, api: Api) -> None:
    for content, role in ((PREFERENCE, "user"), (ADVICE, "assistant"), (FLIGHT, "user")):
        dialog = opened(page, api, content, role=role, chat=f"about {content}")
        expected = proposed(api.extract(content, role))
        assert expected[0] not in {"", USER[1], ASSISTANT[1]}
        expect_fields(dialog, *expected)
        expect(dialog.get_by_role("slider", name="Confidence")).to_have_value(expected[3])
        expect(dialog.get_by_role("combobox", name="Category")).to_have_value(expected[2])


FAILURES: Final[Sequence[tuple[str, tuple[str, str], Callable[[Route], None]]]] = (
    (PREFERENCE, USER, lambda route: route.fulfill(status=500, body="oops")),
    (
        ADVICE,
        ASSISTANT,
        lambda route: route.fulfill(status=503, json={"tag": "OverloadedError", "status": 503}),
    ),
    (FACTS, USER, lambda route: route.abort("connectionrefused")),
    (FLIGHT, ASSISTANT, lambda route: route.fulfill(status=200, body="<!doctype html>")),
)


def test_fallback_on_extraction_failure(visit: Visits, api: Api) -> None:
    visitor = visit()
    visitor.expect_trouble("/memory/extract")
    for content, (role, key), fail in FAILURES:
        visitor.page.route("**/memory/extract", fail)  # the newest comes first
        dialog = opened(visitor.page, api, content, role=role, chat=f"about {content}")
        expect(dialog.get_by_text("did not work")).to_be_visible()
        expect(dialog).to_have_attribute("aria-busy", "false")
        expect_fields(dialog, key, content, "fact", "0.8")
        save(dialog)
        expect(dialog).to_be_hidden()
        memory = api.memories(memoryType="long_term")[0]
        assert (memory["key"], memory["content"]) == (key, content)


def test_fallback_on_low_confidence(visit: Visits, api: Api) -> None:
    page = visit(language="zh-CN").page
    for role, key in (("user", "用户输入"), ("assistant", "AI回复")):
        assert api.extract("好的", role)["confidence"] < 0.5
        dialog = opened(page, api, "好的", role=role, chat=role, language="zh-CN")
        expect(dialog.get_by_text("未提取到明确的信息")).to_be_visible()
        expect_fields(dialog, key, "好的", "fact", "0.8", language="zh-CN")
    answer = {**api.extract(PREFERENCE), "confidence": 0.49}  # below one half
    page.route("**/memory/extract", lambda route: route.fulfill(json=answer))
    dialog = opened(page, api, PREFERENCE, language="zh-CN")
    expect(dialog.get_by_text("未提取到明确的信息")).to_be_visible()
    expect_fields(dialog, "用户输入", PREFERENCE, "fact", "0.8", language="zh-CN")


def test_what_was_typed_wins_over_a_late_answer_which_saving_waits_for(page: Page, api: Api) -> None:
    held = holding(page)
    with page.expect_request("**/memory/extract"):
        dialog = opened(page, api, PREFERENCE)
    key, _, category, confidence = fields(dialog)
    key.fill("我的语言")
    confidence.fill("0.3")
    button = dialog.get_by_role("button", name="Save", exact=True)
    expect(button).to_be_disabled()
    held[0].continue_()
    expect(category).to_have_value("preference")  # the answer is there
    expect_fields(dialog, "我的语言", "Python", "preference", "0.3")
    button.click()
    expect(dialog).to_be_hidden()
    (memory,) = api.memories(memoryType="long_term")
    assert (memory["key"], memory["value"]) == ("我的语言", "Python")


def test_another_of_several_proposals_can_be_chosen_and_leaving_saves_nothing(page: Page, api: Api) -> None:
    dialog = opened(page, api, FACTS)
    for proposal in reversed(api.extract(FACTS)["proposals"]):
        dialog.get_by_role("button", name=proposal["key"]).click()
        expect_fields(dialog, *proposed(proposal))
    dialog.get_by_role("button", name="The message itself").click()
    expect_fields(dialog, USER[1], FACTS, "fact", "0.8")
    button = page.get_by_role("button", name="Save to long-term memory")
    page.keyboard.press("Escape")
    for way_out in ("Cancel", "Close"):
        expect(dialog).to_be_hidden()
        expect(button).to_be_focused()
        button.click()
        dialog.get_by_role("button", name=way_out).click()
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    expect(dialog).to_have_attribute("aria-busy", "false")  # otherwise the proposal may come between two keys
    dialog.get_by_label("Value").fill("typed")
    for _ in range(3):
        page.keyboard.down("Escape")  # held down, it is pressed once
    page.keyboard.up("Escape")
    expect(dialog.get_by_text("Press Esc again")).to_be_visible()
    expect(dialog.get_by_label("Value")).to_have_value("typed")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    assert api.memories() == []


def test_a_saved_memory_is_recalled_with_where_it_comes_from_and_saved_once(page: Page, api: Api) -> None:
    def save_again(said: str) -> None:
        dialog = opened(page, api, PREFERENCE)
        expect_fields(dialog, *proposed(api.extract(PREFERENCE)))
        save(dialog)
        expect(page.get_by_text(said)).to_be_visible()
        expect(dialog).to_be_hidden()

    save_again("Saved to long-term memory")
    (memory,) = api.recall("写代码用什么语言")
    assert (memory["key"], memory["value"], memory["category"]) == ("编程语言偏好", "Python", "preference")
    assert (memory["source"], memory["memoryType"], memory["role"]) == ("user_stated", "long_term", "user")
    assert memory["sessionId"] == CHAT
    assert memory["provenance"] == {"messageIds": [f"m of {CHAT}"], "extractor": "person", "path": None}
    save_again("remembered already")
    assert len(api.memories()) == 1
    api.client.delete(f"/memories/{memory['id']}").raise_for_status()
    page.reload()
    save_again("does not come back from the same message")
    assert api.memories() == []


def test_a_failed_save_keeps_the_form_and_a_lost_answer_stores_once(visit: Visits, api: Api) -> None:
    visitor = visit()
    visitor.expect_trouble("/memories")
    keys: list[str | None] = []

    def fail_and_lose_an_answer(route: Route) -> None:
        keys.append(route.request.header_value("Idempotency-Key"))
        if len(keys) == 1:
            route.fulfill(status=500, body="oops")
        elif len(keys) == 2:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    visitor.page.route("**/memories", fail_and_lose_an_answer)
    dialog = opened(visitor.page, api, PREFERENCE)
    key, value, _, _ = fields(dialog)
    expect(value).to_have_value("Python")
    key.fill("最喜欢的语言")
    save(dialog)
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(key).to_have_value("最喜欢的语言")
    expect(dialog.get_by_role("button", name="Save")).to_be_focused()
    save(dialog)
    expect(dialog.get_by_role("alert")).to_contain_text("The server did not answer")
    save(dialog)
    expect(dialog).to_be_hidden()
    assert [memory["key"] for memory in api.memories()] == ["最喜欢的语言"]
    assert len(keys) == 3
    assert keys[0]
    assert len(set(keys)) == 1


def test_a_value_is_needed_and_may_be_json_which_is_checked(page: Page, api: Api) -> None:
    dialog = opened(page, api, PREFERENCE)
    value = fields(dialog)[1]
    expect(value).to_have_value("Python")
    value.fill("  ")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    dialog.get_by_label("Edit as JSON").check()
    value.fill('{"语言": ["Python"')
    expect(value).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    value.fill('{"语言": ["Python"]}')
    save(dialog)
    expect(dialog).to_be_hidden()
    assert [memory["value"] for memory in api.memories()] == [{"语言": ["Python"]}]
