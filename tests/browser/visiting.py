"""``Visitor`` and ``Visits``: somebody at a browser, who notices what goes wrong on a page though nobody sees it."""

import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Final, Literal, final

from attrs import define, field, frozen
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, Page, Request, ViewportSize

from tests.patience import PATIENCE_SECONDS

Language = Literal["en-GB", "zh-CN"]
Theme = Literal["light", "dark"]

DESKTOP: Final = ViewportSize(width=1280, height=800)
PHONE: Final = ViewportSize(width=390, height=844)


@final
@define
class Visitor:
    """One browser window with a memory of its own: its storage, its language, its theme.

    Attributes:
        page: what the window shows.
        troubles: console errors, exceptions, requests that failed, native dialogs.
        expected: what troubles are meant to happen, as patterns.
    """

    url: str
    page: Page
    troubles: list[str] = field(factory=list)
    expected: list[str] = field(factory=list)

    def go(self, place: str) -> Page:
        """Open the page at *place*, such as ``memories?query=tea``."""
        self.page.goto(f"{self.url}#/{place}")
        return self.page

    def expect_trouble(self, *patterns: str) -> None:
        """Take troubles that match any of the *patterns* for what the test is about."""
        self.expected += patterns

    def unexpected(self) -> list[str]:
        """Return the troubles that the test did not ask for."""
        return [
            trouble
            for trouble in self.troubles
            if not any(re.search(known, trouble) for known in self.expected)
        ]

    def notice_troubles(self) -> None:
        def console(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:  # a violated content security policy is an error here
                self.troubles.append(f"console: {message.text} ({message.location['url']})")

        def failed(request: Request) -> None:
            # Whoever leaves a view takes back what it had asked for.
            if request.failure != "net::ERR_ABORTED":
                self.troubles.append(f"failed: {request.method} {request.url}: {request.failure}")

        def elsewhere(request: Request) -> None:
            if not request.url.startswith((self.url, "data:", "blob:")):
                self.troubles.append(f"asks elsewhere: {request.url}")

        def dialog(opened: Dialog) -> None:
            self.troubles.append(f"dialog: {opened.message}")
            opened.dismiss()

        def crashed(error: Error) -> None:
            self.troubles.append(f"exception: {error.message}")

        self.page.on("console", console)
        self.page.on("requestfailed", failed)
        self.page.on("request", elsewhere)
        self.page.on("dialog", dialog)
        self.page.on("pageerror", crashed)


@final
@frozen
class Visits:
    """Opens windows of *browser*, and fails at the end when something went wrong in one that its test did not expect."""

    browser: Browser
    url: str
    windows: ExitStack

    def __call__(
        self,
        *,
        language: Language = "en-GB",
        theme: Theme = "light",
        size: ViewportSize = DESKTOP,
        is_calm: bool = False,
    ) -> Visitor:
        """Open a window; *is_calm*: of somebody who wants no motion."""
        return self.windows.enter_context(self._visitor(language, theme, size, is_calm=is_calm))

    @contextmanager
    def _visitor(
        self, language: Language, theme: Theme, size: ViewportSize, *, is_calm: bool
    ) -> Generator[Visitor]:
        context = self.browser.new_context(
            locale=language,
            timezone_id="Asia/Shanghai",
            color_scheme=theme,
            viewport=size,
            has_touch=size == PHONE,
            reduced_motion="reduce" if is_calm else "no-preference",
        )
        context.set_default_timeout(1_000 * PATIENCE_SECONDS)
        try:
            visitor = Visitor(self.url, context.new_page())
            visitor.notice_troubles()
            yield visitor
            troubles = visitor.unexpected()
            assert not troubles, "\n".join(troubles)
        finally:
            context.close()
