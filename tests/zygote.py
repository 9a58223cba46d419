"""Loads the modules of chatmemory once, and forks a process for each program that ``Forked`` sends.

python -m tests.zygote DESCRIPTOR [MODULE ...]
"""

import gc
import importlib
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import chatmemory
import chatmemory_layers

LARGEST_REQUEST: Final = 1 << 20
OTHERS: Final = (
    "anyio._backends._asyncio",
    "asyncpg",
    "encodings.idna",
    "numpy",
    "sqlite_vec",
    "uvicorn.lifespan.off",
)


def load(*more: str) -> None:
    """Import what the programs import, most of it when they first use it."""
    for name in (*names_in(chatmemory), *names_in(chatmemory_layers), *OTHERS, *more):
        with suppress(ImportError):  # of something that is not installed
            importlib.import_module(name)


def names_in(package: ModuleType) -> Iterator[str]:
    """Return the modules of *package*, without those that no program of a test loads by itself."""
    (folder,) = map(Path, package.__path__)
    for file in folder.rglob("*.py"):
        name = ".".join((package.__name__, *file.relative_to(folder).with_suffix("").parts))
        if not re.search(r"\.(integrations|laws|pytest_plugin)\b|__init__|__main__", name):
            yield name


def main(descriptor: int, *more: str) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads cannot be forked safely
    load(*more)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the processes that wait for the programs
    with socket.socket(fileno=descriptor) as connection:
        while True:
            request, descriptors, *_ = socket.recv_fds(connection, LARGEST_REQUEST, 4)
            if not request:
                return
            if not os.fork():
                connection.close()
                break
            for each in descriptors:
                os.close(each)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    begin(json.loads(request), descriptors)


def begin(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Fork the program, tell its number and how it ended."""
    *streams, status = descriptors
    program = os.fork()
    if not program:
        os.close(status)
        become(request, streams)
        return
    for stream in streams:
        os.close(stream)
    os.write(status, f"{program}\n".encode())
    _, ended = os.waitpid(program, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def become(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Be the program."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if errors_to := request["errors_to"]:
        os.dup2(os.open(errors_to, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    # The old objects keep what they knew of the old streams, such as whether they can seek.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  for as long as it runs
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  for as long as it runs
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115  for as long as it runs
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.argv = request["argv"]
    exec(compile(request["program"], "<program>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
