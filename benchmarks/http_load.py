"""How much of bare handlers' speed is left over HTTP: ``python benchmarks/http_load.py [--json FILE]``.

``chatmemory serve`` and ``http_bare.py`` run on one core, each for itself, and clients on another (where there are two);
they take turns for slices of a second.  Figures are medians over the rounds, latencies those of all requests of ours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from attrs import Factory, define
from contest import Target, in_turns, judge, percentile, show
from figures import duration, json_option, per_second, write

from chatmemory import ManagedRuntime
from chatmemory_layers import stacks

ROUNDS = 5
SLICE_SECONDS = 1.0
CLIENTS = (1, 64)
CONVERSATIONS = 100
LAST = 20
CONTENT = "Where did we leave the discussion about the roof? 屋顶的事我们说到哪里了？ "
SLOW_CLIENTS = 1_000
LARGE_CLIENTS = 10
LARGE_SECONDS = 5.0
LARGE_MEMORIES = 60
HEALTH_BAR_MS = 50.0
OURS, BARE = "chatmemory serve", "bare handlers"
COMMAND: Final = ("-c", "from chatmemory_layers.entry import chatmemory; chatmemory()")
SERVER_CORE, CLIENT_CORE = 0, 1
HERE: Final = Path(__file__).parent


@define(eq=False)
class Server:
    """A running server and what it took."""

    name: str
    port: int
    latencies: dict[str, list[float]] = Factory(dict)


@contextmanager
def running(name: str, *command: str) -> Generator[Server]:
    """Run a server whose first line of output ends its address with a port."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        if (os.cpu_count() or 1) > 1 and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {SERVER_CORE})
        assert process.stdout is not None
        address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        try:
            yield Server(name, int(address.rstrip("/").rpartition(":")[2]))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(15)


def post(conversation: int) -> bytes:
    body = json.dumps({"messages": [{"role": "user", "content": CONTENT}]}, ensure_ascii=False).encode()
    head = f"POST /conversations/c{conversation}/messages HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def get(conversation: int) -> bytes:
    return f"GET /conversations/c{conversation}/messages?limit={LAST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Send *request* and return the status and the body."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return head[9:12]


async def load(request: Callable[[int], bytes], kind: str, clients: int, server: Server) -> float:
    """Ask *server* from so many connections for a slice of time; return requests per second."""
    latencies = server.latencies.setdefault(f"{kind}, {clients}", [])
    stop = time.perf_counter() + SLICE_SECONDS
    answered = 0

    async def ask_on() -> None:
        nonlocal answered
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while (start := time.perf_counter()) < stop:
            status = await ask(reader, writer, request(random.randrange(CONVERSATIONS)))
            assert status.startswith(b"2"), status
            latencies.append(time.perf_counter() - start)
            answered += 1
        writer.close()
        await writer.wait_closed()

    start = time.perf_counter()
    await asyncio.gather(*(ask_on() for _ in range(clients)))
    return answered / (time.perf_counter() - start)


async def beside_slow_clients(server: Server) -> tuple[float, float]:
    """Return the median milliseconds of a fast client alone, and beside many that never finish their request."""

    async def fast() -> float:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        times: list[float] = []
        for number in range(300):
            start = time.perf_counter()
            await ask(reader, writer, get(number % CONVERSATIONS))
            times.append(time.perf_counter() - start)
        writer.close()
        return median(times) * 1000

    alone = await fast()
    slow = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(SLOW_CLIENTS)]
    for _, writer in slow:
        writer.write(b"POST /memories HTTP/1.1\r\nHost: loc")
    beside = await fast()
    for _, writer in slow:
        writer.close()
    return alone, beside


def large_requests() -> list[bytes]:
    """Return what took long in the event loop once: a long text to extract from, many words to recall, a large page."""
    talk = json.dumps({"content": "I like tea. I live in Kyoto. " * 31_000})
    words = json.dumps({"query": " ".join(f"word{number}" for number in range(100_000))})
    page = f"GET /memories?limit={LARGE_MEMORIES} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    return [sent("/memory/extract", talk), sent("/memories/recall", words), page]


def sent(path: str, body: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode()


async def health_beside_large_requests(server: Server) -> list[float]:
    """Return the milliseconds of each ``/health`` while large requests run, always so many at once."""
    requests = large_requests()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=2**26)
    for number in range(LARGE_MEMORIES):
        text = f"{number} " + "茶 tea " * 100_000
        assert (
            await ask(
                reader,
                writer,
                sent("/memories", json.dumps({"memories": [{"content": text}]}, ensure_ascii=False)),
            )
        ) == b"201"
    stop = time.perf_counter() + LARGE_SECONDS

    async def ask_on(place: int) -> None:
        large_reader, large_writer = await asyncio.open_connection("127.0.0.1", server.port, limit=2**26)
        while time.perf_counter() < stop:
            status = await ask(large_reader, large_writer, requests[place % len(requests)])
            assert status == b"200", status
        large_writer.close()

    others = [asyncio.create_task(ask_on(place)) for place in range(LARGE_CLIENTS)]
    times: list[float] = []
    while time.perf_counter() < stop:
        start = time.perf_counter()
        await ask(reader, writer, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        times.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(0.005)
    await asyncio.gather(*others)
    writer.close()
    return times


async def main(file: Path | None) -> None:
    rows: dict[str, dict[str, str]] = {}
    if (os.cpu_count() or 1) > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {CLIENT_CORE})
    with tempfile.TemporaryDirectory() as folder:
        for name in ("ours", "bare"):
            async with ManagedRuntime(stacks.embedded(f"{folder}/{name}.db")):
                pass  # the tables are made
        ours = (*COMMAND, "serve", "--quiet", "--port", "0", "--store")
        with (
            running(OURS, *ours, f"{folder}/ours.db") as first,
            running(BARE, str(HERE / "http_bare.py"), f"{folder}/bare.db") as second,
        ):
            servers = [first, second]
            figures: dict[str, list[float]] = {server.name: [] for server in servers}
            columns: list[str] = []
            for server in servers:  # what is read is there
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                for number in range(CONVERSATIONS * LAST):
                    await ask(reader, writer, post(number % CONVERSATIONS))
                writer.close()
            for kind, request in (("add", post), ("read", get)):
                for clients in CLIENTS:
                    columns.append(f"{kind}, {clients}")
                    laps = await in_turns(servers, partial(load, request, kind, clients), rounds=ROUNDS)
                    for server, lap in laps.items():
                        figures[server.name].append(median(lap))
            show("requests per second, by clients at once", columns, figures)
            for place, column in enumerate(columns):
                print(column)
                judge([Target(OURS, BARE, 0.7)], {name: rates[place] for name, rates in figures.items()})
                for server in servers:
                    times = server.latencies[column]
                    p50, p99 = (percentile(times, share) * 1000 for share in (0.50, 0.99))
                    print(f"    {server.name}: median {p50:.1f} ms, p99 {p99:.1f} ms")
                    cells = rows.setdefault(f"{column} at once", {})
                    cells[server.name] = per_second(figures[server.name][place])
                    cells[f"{server.name}, p99"] = duration(p99 / 1000)
            alone, beside = await beside_slow_clients(first)
            times = await health_beside_large_requests(first)
            p50, p99 = percentile(times, 0.50), percentile(times, 0.99)
            verdict = "reached" if p99 < HEALTH_BAR_MS else "MISSED"
            print(
                f"/health beside {LARGE_CLIENTS} large requests: median {p50:.1f} ms, p99 {p99:.1f} ms; under {HEALTH_BAR_MS:g}: {verdict}"
            )
            rows["a fast client alone"] = {OURS: duration(alone / 1000)}
            rows[f"beside {SLOW_CLIENTS:,} that never finish a request"] = {OURS: duration(beside / 1000)}
            write(file, rows)
            print(f"a fast client: {alone:.2f} ms alone, {beside:.2f} ms beside {SLOW_CLIENTS} slow ones")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    json_option(parser)
    asyncio.run(main(parser.parse_args().json))
