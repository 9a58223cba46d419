"""Loads the modules of chatmemory once, and forks a process for each program that ``Forked`` sends.

python -m tests.zygote DESCRIPTOR
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

LARGEST_REQUEST: Final = 1 << 20
LOADED: Final = (
    "asyncpg",
    "chatmemory.laws.kit.samples",
    "chatmemory.programs.http.app",
    "chatmemory_layers.server.main",
    "chatmemory_layers.server.serving",
    "chatmemory_layers.server.stack",
    "numpy",
    "sqlite_vec",
    "uvicorn",
)


def main(descriptor: int) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads is not forked
    for name in LOADED:
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that wait for the programs
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
    # Those of this process know what the streams were before.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.argv = request["argv"]
    exec(compile(request["program"], "<program>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main(int(sys.argv[1]))
