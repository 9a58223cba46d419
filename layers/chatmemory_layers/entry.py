"""The entry points of both commands: Ctrl-C ends them quietly, also while their modules are still being imported."""

import sys  # the only import: Ctrl-C during an import here would print a traceback

INTERRUPTED = 130
"""The same as in ``exit_codes.py``, which may not be imported yet."""

NEW_OBJECTS = 10_000
"""The garbage collector's first threshold.  At Python's 700 it repeatedly scans objects that stay alive: this takes a tenth
of the time of a short command (its modules) and a quarter of a server's (the requests in progress)."""


def pastchats_memory() -> None:
    """Run the command ``pastchats-memory``."""
    try:
        _collect_seldom()
        from chatmemory_layers.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def chatmemory() -> None:
    """Run the command ``chatmemory``."""
    try:
        _collect_seldom()
        from chatmemory_layers.server.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _collect_seldom() -> None:
    import gc

    gc.set_threshold(NEW_OBJECTS)
