"""What is written in Markdown is shown so: code to copy, tables, folded tool calls; and nothing of it runs or loads."""

from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.hostile_texts import HOSTILE
from tests.browser.test_hostile_text import expect_harmless
from tests.browser.visiting import Visits

CODE: Final = "def hello():\n    return '<b>你好</b>'\n"
ANSWER: Final = f"""# 计划

Take **both** trains, see https://example.org/trains?a=1&b=2.

```python
{CODE}```

| train | 时间 |
|---|---|
| A | 08:30 |

1. one
2. two
"""


def message(page: Page, number: int) -> Locator:
    return page.locator(".conversation > .messages > .message").nth(number - 1)


def test_headings_lists_tables_code_and_tool_calls_are_shown_as_such(visit: Visits, api: Api) -> None:
    call = {"id": "1", "function": {"name": "timetable", "arguments": '{"line": "A", "站": "东"}'}}
    api.say(
        "talk",
        {"id": "u", "role": "user", "content": "plain * text _with_ signs\n  and its   spaces"},
        {"id": "a", "role": "assistant", "content": ANSWER},
        {"id": "c", "role": "assistant", "content": "I look it up.", "metadata": {"tool_calls": [call]}},
        {"id": "t", "role": "tool", "content": '{"next": "08:30"}', "metadata": {"tool_call_id": "1"}},
    )
    page = visit().go("conversations/talk")
    plain = message(page, 1).locator(".text")  # what is no Markdown keeps its signs and spaces
    assert plain.evaluate("text => text.textContent") == "plain * text _with_ signs\n  and its   spaces"
    expect_formatted(page, message(page, 2))
    expect_folded(message(page, 3), message(page, 4))


def expect_formatted(page: Page, answer: Locator) -> None:
    expect(answer.locator("strong")).to_have_text("both")
    expect(answer.get_by_role("table")).to_contain_text("08:30")
    expect(answer.locator("ol li")).to_have_text(["one", "two"])
    expect(answer.locator("pre")).to_have_text(CODE)
    link = answer.get_by_role("link", name="https://example.org/trains?a=1&b=2")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert answer.locator("b").count() == 0
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer.get_by_role("button", name="Copy code").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == CODE.rstrip("\n")
    answer.get_by_role("button", name="As written").click()
    assert answer.locator(".text").evaluate("text => text.textContent") == ANSWER
    answer.get_by_role("button", name="As written").click()
    expect(answer.get_by_role("table")).to_be_visible()


def expect_folded(call: Locator, result: Locator) -> None:
    expect(call.get_by_text("timetable").first).to_be_visible()
    expect(call.get_by_text('"line": "A"')).to_be_hidden()
    call.get_by_text("1 tool call").click()
    expect(call.get_by_text('"line": "A"')).to_be_visible()
    expect(call.get_by_text('"站": "东"')).to_be_visible()
    result.get_by_text("Result of a tool").click()
    expect(result.locator(".text")).to_have_text('{"next": "08:30"}')
    expect(result.locator(".text")).to_be_visible()


def test_hostile_markdown_does_nothing(visit: Visits, api: Api) -> None:
    table = "| a | b |\n|---|---|\n| {0} | {0} |"
    every_form = "\n\n".join(["**x** {0}", "# {0}", "- {0}", "```{0}\n{0}\n```", table, "**x** [{0}](<{0}>)"])
    api.say("hostile", *({"role": "assistant", "content": every_form.format(text)} for text in HOSTILE))
    page = visit().go("conversations/hostile")
    shown = page.locator(".markdown")
    expect(shown).to_have_count(len(HOSTILE))
    for element in ("strong", ".markdown-heading", "ul", "pre", "table"):
        assert shown.locator(element).count() >= len(HOSTILE) // 2
    expect_harmless(page)
    assert page.locator("main img").count() == 0
