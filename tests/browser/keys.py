"""What a person does with the keyboard alone."""

from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

FOCUSED: Final = """() => {
    const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(document.activeElement);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
}"""
MANY: Final = 120


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until *wanted* has the focus, which can be seen."""
    expect(wanted).to_be_visible()
    for _ in range(MANY):
        if wanted.evaluate("element => element === document.activeElement"):
            assert page.evaluate(FOCUSED), f"the focus cannot be seen on {wanted}"
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab never comes to {wanted}")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    tab_to(page, wanted)
    page.keyboard.press(key)
