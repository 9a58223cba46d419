"""The entry points of both commands: Ctrl-C ends them quietly, also while their modules are still being imported."""

from __future__ import annotations

import sys  # the only import: Ctrl-C during an import here would print a traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    import chatmemory.programs.commands.host as commands
    import chatmemory.programs.pastchats.host as pastchats

INTERRUPTED = 130
"""The same as in ``exit_codes.py``, which may not be imported yet."""

NEW_OBJECTS = 10_000
"""The garbage collector's first threshold.  At Python's 700 it repeatedly scans objects that stay alive: this takes a tenth
of the time of a short command (its modules) and a quarter of a server's (the requests in progress)."""


def pastchats_memory() -> None:
    """Run the command ``pastchats-memory``."""
    try:
        # A recall makes few reference cycles.  Disabled this early, because loading modules takes most of its time.
        _collect_seldom(is_off=True)
        from chatmemory.programs.pastchats.quick_commands import run_quickly
        from chatmemory_layers.terminal import is_colourful, prepared_arguments

        arguments = prepared_arguments()
        code = run_quickly(open_past_chats_host, arguments)
        if code is None:
            from chatmemory.programs.pastchats.program import run

            code = run(open_past_chats_host, arguments, is_colourful=is_colourful())
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def chatmemory() -> None:
    """Run the command ``chatmemory``."""
    try:
        _collect_seldom()
        from chatmemory.programs.commands.program import run
        from chatmemory_layers.terminal import is_colourful, prepared_arguments

        sys.exit(run(open_memory_host, prepared_arguments(), is_colourful=is_colourful()))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def open_past_chats_host(**options: str) -> pastchats.Host:
    """Return the host of ``pastchats-memory``, which ``--help`` does not load."""
    from chatmemory_layers.past_chats_host import PastChatsHost

    return PastChatsHost(**options)


def open_memory_host(**options: str) -> commands.Host:
    """Return the host of ``chatmemory``, which ``--help`` does not load."""
    from chatmemory_layers.server.memory_host import MemoryHost

    return MemoryHost(**options)


def _collect_seldom(*, is_off: bool = False) -> None:
    import gc

    gc.set_threshold(NEW_OBJECTS)
    if is_off:
        gc.disable()
