"""A real Chromium: where it is found, and how it is started so that it asks nobody for anything.

A machine without one skips what needs it; ``NEEDS_CHROMIUM=1`` makes its absence a failure.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, sync_playwright

ABSENT: Final = "no Chromium: apt-get install chromium-headless-shell, or name one in CHROMIUM"
# The same engine without windows comes first: it takes half the work of a whole browser.
NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS: Final = (
    "--no-sandbox",  # which a container has no rights for
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
)


def path_of_chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_chromium() -> Generator[Browser]:
    """Start Chromium; skip the test where there is none, or fail where there must be one."""
    path = path_of_chromium()
    if path is None:
        (pytest.fail if os.environ.get("NEEDS_CHROMIUM") == "1" else pytest.skip)(ABSENT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
