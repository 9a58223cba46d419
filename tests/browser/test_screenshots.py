"""What the page looks like with the demo's data: a picture of every view, for people to judge.

A thorough run writes them to ``tests/browser/screenshots``; ``PAGE_SCREENSHOTS`` names another folder, and asks for
every language, theme and size; ``README_SCREENSHOT=1`` renews the picture of the README.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from itertools import product
from pathlib import Path
from typing import Final

import httpx
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.api import Api
from tests.browser.visiting import DESKTOP, PHONE, Language, Theme, Visits
from tests.http.served import Server, started
from tests.thorough import IS_THOROUGH

ROOT: Final = Path(__file__).parents[2]
ASKED: Final = os.environ.get("PAGE_SCREENSHOTS")
PICTURES: Final = Path(ASKED or Path(__file__).with_name("screenshots"))
README_PICTURE: Final = ROOT / "docs/page.png"

LOADING: Final = re.compile("Loading|加载中")
NOWHERE: Final = re.compile("There is nothing at|此地址没有内容")
PERMALINK: Final = re.compile("Link to|链接")

SIZES: Final[Mapping[str, ViewportSize]] = {"desktop": DESKTOP, "phone": PHONE}
LANGUAGES: Final[tuple[Language, ...]] = ("en-GB", "zh-CN")
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")
LOOKS: Final[tuple[tuple[Language, Theme, str], ...]] = (
    tuple(product(LANGUAGES, THEMES, SIZES))
    if ASKED
    else (("en-GB", "light", "desktop"), ("zh-CN", "dark", "phone"))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demo keeps everything."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def server(folder: Path) -> Generator[Server]:
    """Serve what the demo leaves behind, as the demo itself says how."""
    demo = (sys.executable, ROOT / "examples/demo.py", folder)
    said = subprocess.run(demo, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    with started(*shlex.split(said.splitlines()[-1]), "--port", "0") as server:
        yield server


@pytest.fixture
def api(client: httpx.Client) -> Api:
    """A client that leaves everything as it is."""
    return Api(client)


def nothing(page: Page) -> None:
    del page


def conversation(page: Page) -> None:
    """Open the longest one."""
    page.get_by_role("main").get_by_role("listitem").get_by_role("link").last.click()
    expect(page.get_by_role("main").get_by_role("link", name=PERMALINK).first).to_be_visible()


def summary(page: Page) -> None:
    """Unfold the first summary."""
    conversation(page)
    fold = page.get_by_text(re.compile("stands for|所概括的")).first
    fold.scroll_into_view_if_needed()
    fold.click()


def save_dialog(page: Page) -> None:
    """Save a message in which something is found."""
    page.get_by_role("main").get_by_role("listitem").get_by_role("link").nth(1).click()
    page.get_by_role("button", name=re.compile("long-term memory|保存到长期记忆")).first.click()
    expect(page.get_by_role("dialog")).to_have_attribute("aria-busy", "false")


def edit_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Edit|编辑")).first.click()


def forgotten(page: Page) -> None:
    """Forget a memory, and think better of it once it has been seen."""
    page.get_by_role("button", name=re.compile("^(Forget|忘记)$")).first.click()


def details(page: Page) -> None:
    page.get_by_text(re.compile("^(Details|详情)$")).first.click()


def point(page: Page) -> None:
    """Point at a memory of the timeline."""
    page.get_by_role("main").locator("svg a").first.hover()


VIEWS: Final[Mapping[str, tuple[str, Callable[[Page], None]]]] = {
    "conversations": ("conversations", nothing),
    "conversation": ("conversations", conversation),
    "summary": ("conversations", summary),
    "save": ("conversations", save_dialog),
    "memories": ("memories", nothing),
    "details": ("memories", details),
    "search": ("memories?query=%E5%96%9C%E6%AC%A2%E5%96%9D%E4%BB%80%E4%B9%88", nothing),
    "edit": ("memories", edit_dialog),
    "timeline": ("timeline", point),
    "past-chats": ("past-chats", nothing),
    "past-chat": ("past-chats", conversation),
    "past-search": ("past-chats?q=timeout", nothing),
    "values": ("values", nothing),
    "settings": ("settings", nothing),
    "undo": ("memories", forgotten),
}


def undo(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Undo|撤销")).click()


@pytest.mark.skipif(not (ASKED or IS_THOROUGH), reason="pictures are for people: make test-long takes some")
@pytest.mark.parametrize(("language", "theme", "size"), LOOKS)
def test_every_view_has_its_picture(visit: Visits, language: Language, theme: Theme, size: str) -> None:
    folder = PICTURES / f"{language}-{theme}-{size}"
    folder.mkdir(parents=True, exist_ok=True)
    visitor = visit(language=language, theme=theme, size=SIZES[size], is_calm=True)
    page = visitor.page
    for name, (place, act) in VIEWS.items():
        nowhere = visitor.go("nowhere").get_by_role("heading", name=NOWHERE)
        expect(nowhere).to_be_visible()  # and what was open is closed
        visitor.go(place)
        expect(nowhere).to_have_count(0)
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
        expect(page.get_by_text(LOADING)).to_have_count(0)
        act(page)
        expect(page.get_by_text(LOADING)).to_have_count(0)
        page.screenshot(path=folder / f"{name}.png")
    undo(page)


@pytest.mark.skipif(
    "README_SCREENSHOT" not in os.environ, reason="README_SCREENSHOT=1 renews the picture in the README"
)
def test_the_picture_of_the_readme_is_new(visit: Visits) -> None:
    page = visit(is_calm=True).go("conversations")
    save_dialog(page)
    README_PICTURE.parent.mkdir(exist_ok=True)
    page.screenshot(path=README_PICTURE)
