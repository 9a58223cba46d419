"""``Visitor`` and ``Visits``: somebody at a browser, who notices what goes wrong on a page though nobody sees it."""

import re
from collections import defaultdict
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Final, Literal, final

from attrs import Factory, define, field, frozen
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, Page, Request, ViewportSize

from tests.patience import PATIENCE_SECONDS

Language = Literal["en-GB", "zh-CN"]
Theme = Literal["light", "dark"]

DESKTOP: Final = ViewportSize(width=1280, height=800)
PHONE: Final = ViewportSize(width=390, height=844)


@final
@define
class Visitor:
    """One browser window with its language and its theme, and a storage that is empty at first."""

    url: str
    page: Page
    troubles: list[str] = field(factory=list)  # console errors, exceptions, failed requests, native dialogs
    expected: list[str] = field(factory=list)  # patterns of those that are meant to happen
    is_kept: bool = True  # the window may serve another test

    def go(self, place: str) -> Page:
        self.page.goto(f"{self.url}#/{place}")
        return self.page

    def stop_the_clock(self) -> Page:
        """Let the time of the window pass as the test says; nobody else can use it then."""
        self.is_kept = False
        self.page.clock.install()
        return self.page

    def expect_trouble(self, *patterns: str) -> None:
        """Take troubles that match any of the *patterns* for what the test is about."""
        self.expected += patterns

    def unexpected(self) -> list[str]:
        known = re.compile("|".join(f"(?:{pattern})" for pattern in self.expected) or "(?!)")
        return [trouble for trouble in self.troubles if not known.search(trouble)]

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
class Look:
    """How somebody sees the page."""

    language: Language
    theme: Theme
    is_phone: bool
    is_calm: bool


@final
@frozen
class Windows:
    """The windows before a server.  One that a test has left serves the next test that wants such a one.

    Its page has been loaded anew by then, at a place where nothing is.  A window of its own for each test would cost
    twice as much as the load: it begins with a process and an empty cache.
    """

    browser: Browser
    url: str
    opened: ExitStack
    idle: defaultdict[Look, list[Visitor]] = Factory(lambda: defaultdict(list))

    def taken(self, look: Look) -> Visitor:
        return self.idle[look].pop() if self.idle[look] else self._opened(look)

    def left(self, look: Look, visitor: Visitor) -> None:
        """Take back a window, and make it as new."""
        page = visitor.page
        if not (visitor.is_kept and page.url.startswith(self.url)):
            page.context.close()
            return
        page.unroute_all()
        page.set_viewport_size(size_of(look))
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        visitor.go("nowhere")
        page.reload()
        visitor.troubles.clear()
        visitor.expected.clear()
        self.idle[look].append(visitor)

    def _opened(self, look: Look) -> Visitor:
        context = self.browser.new_context(
            locale=look.language,
            timezone_id="Asia/Shanghai",
            color_scheme=look.theme,
            viewport=size_of(look),
            has_touch=look.is_phone,
            reduced_motion="reduce" if look.is_calm else "no-preference",
        )
        self.opened.callback(context.close)
        context.set_default_timeout(1_000 * PATIENCE_SECONDS)
        visitor = Visitor(self.url, context.new_page())
        visitor.notice_troubles()
        return visitor


def size_of(look: Look) -> ViewportSize:
    return PHONE if look.is_phone else DESKTOP


@final
@frozen
class Visits:
    """Gives windows to a test, and fails at the end when something went wrong in one that the test did not expect."""

    windows: Windows
    visits: ExitStack

    def __call__(
        self,
        *,
        language: Language = "en-GB",
        theme: Theme = "light",
        size: ViewportSize = DESKTOP,
        is_calm: bool = False,
    ) -> Visitor:
        """Give a window; *is_calm*: of somebody who wants no motion."""
        return self.visits.enter_context(self._visitor(Look(language, theme, size == PHONE, is_calm)))

    @contextmanager
    def _visitor(self, look: Look) -> Generator[Visitor]:
        visitor = self.windows.taken(look)
        yield visitor
        troubles = visitor.unexpected()
        self.windows.left(look, visitor)
        assert not troubles, "\n".join(troubles)
