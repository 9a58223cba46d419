"""The page of a server that wants a token."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits
from tests.http.served import Server
from tests.patience import PATIENCE_SECONDS

OWNER = "the token of the owner"
GUEST = "the token of a guest"


@pytest.fixture(scope="module")
def configuration() -> str:
    return (
        f'[server]\ntoken = "{OWNER}"\n'
        f'[server.tokens.guest]\ntoken = "{GUEST}"\nuser = "default"\nreadOnly = true\n'
    )


@pytest.fixture(scope="module")
def client(server: Server) -> Generator[httpx.Client]:
    headers = {"Authorization": f"Bearer {OWNER}"}
    how: Any = {"headers": headers, "timeout": PATIENCE_SECONDS, "trust_env": False}
    with httpx.Client(base_url=server.url, **how) as client:
        yield client


def test_a_token_opens_the_place_that_was_asked_for(visit: Visits, api: Api) -> None:
    api.say("午饭", {"role": "user", "content": "在哪里见面？"})
    visitor = visit()
    visitor.expect_trouble("status of 401")
    page = visitor.go("conversations/%E5%8D%88%E9%A5%AD")
    expect(page.get_by_role("heading", name="A token is needed")).to_be_visible()
    enter(page, "not the token of anybody")
    expect(page.get_by_text("The server did not accept this token.")).to_be_visible()
    enter(page, OWNER)
    said = page.get_by_role("region", name="午饭").get_by_text("在哪里见面？")
    expect(said).to_be_visible()
    expect(page.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    page.reload()
    expect(said).to_be_visible()


def enter(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    # The heading of a new page takes the focus from the field.
    page.get_by_role("button", name="Continue").click()


def test_whoever_may_only_look_is_offered_nothing_else(visit: Visits, api: Api, folder: Path) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    visitor = visit()
    visitor.expect_trouble("status of 401")
    page = visitor.go("conversations/lunch")
    enter(page, GUEST)
    said = page.get_by_role("region", name="lunch").get_by_text("Where do we meet?")
    expect(said).to_be_visible()
    expect(page.get_by_role("button", name="Save to long-term memory")).to_have_count(0)
    expect(page.get_by_role("button", name="Clear conversation")).to_have_count(0)
    visitor.go("settings")
    expect(page.get_by_role("definition").filter(has_text="memory.db")).to_be_visible()
    assert str(folder) not in page.content()


def test_a_refusal_that_comes_after_the_token_asks_for_no_other(visit: Visits, api: Api) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    visitor = visit()
    visitor.expect_trouble("status of 401")
    held: list[Route] = []
    # Playwright asks a handler for its signature, which a built-in method does not tell.
    visitor.page.route("**/settings", lambda route: held.append(route), times=1)  # noqa: PLW0108
    with visitor.page.expect_request("**/settings"):
        page = visitor.go("conversations/lunch")
    enter(page, OWNER)
    said = page.get_by_role("region", name="lunch").get_by_text("Where do we meet?")
    expect(said).to_be_visible()
    (late,) = held
    with page.expect_response("**/settings"):
        late.continue_()
    # The refusal has been read by then.
    page.evaluate("fetch('/health').then(() => new Promise(requestAnimationFrame))")
    expect(said).to_be_visible()
