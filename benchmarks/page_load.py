"""How long the page takes for somebody far away: ``python benchmarks/page_load.py``.

A real Chromium visits ``chatmemory serve`` with 200 ms between it and the server for each request, as its own emulation of
a network adds them.  A visit ends when the newest conversation is on the page; a reload has what the visit left in
the cache.  Figures are medians over the rounds; requests and bytes are those of the first one.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from attrs import frozen
from http_load import COMMAND, CONTENT, running
from playwright.sync_api import Browser, sync_playwright

from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers import stacks

ROUNDS: Final = 7
PHONE: Final = {"offline": False, "latency": 200, "downloadThroughput": -1, "uploadThroughput": -1}
"""200 ms for each request; -1: as many bytes a second as there are."""
CONVERSATIONS: Final = 30
BARS_MS: Final = {"visit": 1_200, "reload": 500}
NEWEST: Final = "main li a"
# When it is drawn, by the clock of the page; a question from outside would come late.
NOTE_THE_VIEW: Final = f"""window.viewed = new Promise((done) => new MutationObserver((_, observer) => {{
    if (!document.querySelector({NEWEST!r})) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now())));
}}).observe(document, {{childList: true, subtree: true}}))"""


@frozen
class Load:
    """What one load of the page took."""

    milliseconds: float
    requests: int
    received_bytes: int


def visited(browser: Browser, url: str) -> dict[str, Load]:
    """Visit the page with an empty cache, and load it again."""
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(NOTE_THE_VIEW)
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.emulateNetworkConditions", PHONE)
        received_bytes: list[int] = []
        network.on("Network.loadingFinished", lambda event: received_bytes.append(event["encodedDataLength"]))
        loads: dict[str, Load] = {}
        for name in BARS_MS:
            received_bytes.clear()
            page.reload() if loads else page.goto(url)
            milliseconds: float = page.evaluate("viewed")
            page.wait_for_load_state("networkidle")
            loads[name] = Load(milliseconds, sum(map(bool, received_bytes)), sum(received_bytes))
        return loads


async def filled(store: Path) -> None:
    async with ManagedRuntime(stacks.embedded(store)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        for number in range(CONVERSATIONS):
            message = NewMessage(role="user", content=CONTENT)
            await memory.add_messages(f"c{number}", [message]).or_raise()


def main() -> None:
    chromium = (
        os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    )
    if chromium is None:
        sys.exit("no Chromium: apt-get install chromium-headless-shell, or name one in CHROMIUM")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "memory.db")
        asyncio.run(filled(store))
        serve = (
            *COMMAND,
            "serve",
            "--quiet",
            "--port",
            "0",
            "--store",
            str(store),
        )
        with running("chatmemory serve", *serve) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            rounds = [visited(browser, f"http://127.0.0.1:{server.port}/") for _ in range(1 + ROUNDS)]
            browser.close()
    for name, bar in BARS_MS.items():
        milliseconds = median(loads[name].milliseconds for loads in rounds[1:])
        first = rounds[0][name]
        verdict = "met" if milliseconds <= bar else "MISSED"
        print(f"{name:<8}{milliseconds:>7,.0f} ms  {verdict} <= {bar:,} ms", end="")
        print(f"{first.requests:>6} requests {first.received_bytes:>10,} bytes")


if __name__ == "__main__":
    main()
