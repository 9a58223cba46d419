"""``in_process``: run a program in the process of the test, which takes a tenth of the time of a new process."""

import gc
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

from chatmemory.effect import debug


def in_process(
    program: Callable[[], object],
    *,
    arguments: Sequence[str | Path] = ("-",),
    given: str = "",
    environment: Mapping[str, str] | None = None,
) -> "CompletedProcess[str]":
    """Call *program* with its own streams, arguments and variables, and return its exit code and output.

    Args:
        program: returns, or raises ``SystemExit``.
        arguments: its ``sys.argv``.
        given: its standard input.
        environment: all its variables; None: those of this process.
    """
    printed, complained = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before = dict(os.environ), sys.argv, sys.stdin, gc.isenabled(), gc.get_threshold()
    code = 0
    debug.disable()  # a new process does not run in development mode; the pytest plugin enables it before each test
    try:
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        sys.argv = [os.fspath(argument) for argument in arguments]
        sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        with redirect_stdout(printed), redirect_stderr(complained):
            program()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        variables, sys.argv, sys.stdin, was_enabled, threshold = before
        os.environ.clear()
        os.environ.update(variables)
        gc.set_threshold(*threshold)
        (gc.enable if was_enabled else gc.disable)()
    out, err = (text_of(stream) for stream in (printed, complained))
    return CompletedProcess(arguments, code, out, err)


def text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8")
