"""``Forked``: a program in a new process that starts in a tenth of the usual time.

``zygote.py`` has loaded the modules and forks the process.  ``Forked`` has the methods of ``subprocess.Popen``.
"""

import atexit
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

from tests.patience import PATIENCE_SECONDS

ROOT: Final = Path(__file__).parents[1]
ENTRIES: Final = {"chatmemory": "chatmemory", "pastchats-memory": "pastchats_memory"}
"""The commands, and their functions in ``chatmemory_layers.entry``."""


@final
class Forked:
    """A program that runs, with pipes to and from it.

    Attributes:
        pid: the number of the process.
        stdin: a pipe to its input.
        stdout: a pipe from its output.
        stderr: a pipe from its standard error; empty when a file takes that.
        returncode: how the program ended, less than 0: by a signal; None while it runs.
    """

    def __init__(
        self,
        *command: str | Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        errors_to: Path | None = None,
        longest_seconds: float = 10 * PATIENCE_SECONDS,
        loaded: Sequence[str] = (),
    ) -> None:
        """Start *command*.

        Args:
            command: one of our commands, or this Python with a script, ``-m`` or ``-c``.
            cwd: the folder of the program; None: the folder of this process.
            environment: the variables of the program; None: the variables of this process.
            errors_to: the file for standard error; None: a pipe.
            longest_seconds: the program is killed after this time, so that a reader of the pipes cannot wait for ever.
            loaded: further modules that the forking process imports once, such as a framework that takes seconds.
        """
        pipes = [os.pipe() for _ in range(4)]
        (given, stdin), (stdout, printed), (stderr, complained), (status, telling) = pipes
        self.stdin = os.fdopen(stdin, "w", encoding="utf-8")
        self.stdout = os.fdopen(stdout, encoding="utf-8")
        self.stderr = os.fdopen(stderr, encoding="utf-8")
        self._status = os.fdopen(status, "rb", buffering=0)
        program = program_of(command)
        request = {
            "program": program,
            "argv": argv_of(command),
            "cwd": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if environment is None else environment),
            "errors_to": errors_to and os.fspath(errors_to),
        }
        theirs = [given, printed, complained, telling]
        socket.send_fds(_zygote(tuple(loaded)), [json.dumps(request).encode()], theirs)
        for descriptor in theirs:
            os.close(descriptor)
        self.pid = int(self._status.readline())
        self.returncode: int | None = None
        self._killer = threading.Timer(longest_seconds, os.kill, (self.pid, signal.SIGKILL))
        self._killer.daemon = True
        self._killer.start()

    def poll(self) -> int | None:
        """Return how the program ended, None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = PATIENCE_SECONDS) -> int:
        """Wait for the end, and return how the program ended.

        Raises:
            subprocess.TimeoutExpired: it runs after *timeout* seconds.
        """
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._status, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired("a forked program", timeout or 0.0)
            self.returncode = int(self._status.readline())
            self._killer.cancel()
        return self.returncode

    def send_signal(self, sign: int) -> None:
        with suppress(ProcessLookupError):  # the program has ended, but its exit code is not here yet
            if self.poll() is None:
                os.kill(self.pid, sign)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: str = "") -> tuple[str, str]:
        """Write *given* to the program, and return what it printed, on both streams, until its end."""
        with ThreadPoolExecutor(1) as reader:  # a full pipe would stop the program
            complained = reader.submit(self.stderr.read)
            with suppress(BrokenPipeError):
                self.stdin.write(given)
                self.stdin.close()
            printed = self.stdout.read()
            self.wait()
            return printed, complained.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program if it runs, and close the pipes."""
        self.kill()
        self.wait()
        for pipe in (self.stdin, self.stdout, self.stderr, self._status):
            pipe.close()


def run_forked(
    *command: str | Path,
    given: str = "",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    loaded: Sequence[str] = (),
) -> "subprocess.CompletedProcess[str]":
    """Run *command* to its end, with *given* as its input."""
    with Forked(*command, cwd=cwd, environment=environment, loaded=loaded) as running:
        printed, complained = running.communicate(given)
        return subprocess.CompletedProcess(command, running.wait(), printed, complained)


def fresh_python(script: str, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Run *script* in a new Python that has loaded no module of ours, and return what it printed."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_loaded_by(script: str, *arguments: str | Path) -> set[str]:
    """Return the names of the modules that are loaded after *script* in a new Python."""
    environment = {**os.environ, "CHATMEMORY_DEBUG": "0"}  # development mode loads more
    printing = f"{script}\nimport sys; print(*sys.modules)"
    return set(fresh_python(printing, *arguments, environment=environment).split())


def imports_of(program: str) -> list[str]:
    """Return the modules that *program* imports at its top, for ``loaded``."""
    return re.findall(r"^(?:from|import) ([\w.]+)", program, re.MULTILINE)


def program_of(command: Sequence[str | Path]) -> str:
    """Return the code that *command* runs."""
    match command:
        case [sys.executable, "-W", what, *rest]:
            return f"import warnings; warnings._processoptions([{what!r}])\n{program_of([sys.executable, *rest])}"
        case [sys.executable, "-X", _, *rest]:
            return program_of([sys.executable, *rest])
        case [sys.executable, "-c", code, *_]:
            return str(code)
        case [sys.executable, "-m", name, *_]:
            return f"import runpy; runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
        case [sys.executable, script, *_]:
            beside = f"import sys; sys.path.insert(0, {os.fspath(Path(script).parent)!r})"
            return f"{beside}; import runpy; runpy.run_path({os.fspath(script)!r}, run_name='__main__')"
        case [path, *_]:
            entry = ENTRIES[Path(path).name]
            return f"from chatmemory_layers.entry import {entry}; {entry}()"
        case _:
            raise ValueError("an empty command")


def argv_of(command: Sequence[str | Path]) -> list[str]:
    """Return the ``sys.argv`` of *command*."""
    words = [os.fspath(word) for word in command]
    if words[0] != sys.executable:
        return words
    while words[1] in {"-W", "-X"}:
        del words[1:3]
    return ["-c", *words[3:]] if words[1] == "-c" else words[2:] if words[1] == "-m" else words[1:]


@cache
def _zygote(loaded: tuple[str, ...]) -> socket.socket:
    """Start the process from which others are forked; it ends when this process closes the socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = (sys.executable, "-m", "tests.zygote", str(theirs.fileno()), *loaded)
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], start_new_session=True)
    atexit.register(process.wait)
    atexit.register(ours.close)  # before that
    return ours
