"""The two commands, as their scripts start them: Ctrl-C ends them quietly while their modules are still being loaded.

Once they are loaded they see to it themselves.
"""

import sys  # and nothing else: what is imported here, Ctrl-C still finds unprepared

INTERRUPTED = 130
"""As in ``exit_codes.py``, which may not have been loaded yet."""

NEW_OBJECTS = 10_000
"""How many containers are made before the garbage collector looks at them.  At Python's 700 it goes again and again through
what stays: the modules of a short command, a tenth of its time, and the requests that a server is answering, a quarter."""


def pastchats_memory() -> None:
    """Be the command ``pastchats-memory``."""
    try:
        _collect_seldom()
        from chatmemory_layers.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def chatmemory() -> None:
    """Be the command ``chatmemory``."""
    try:
        _collect_seldom()
        from chatmemory_layers.server.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _collect_seldom() -> None:
    import gc

    gc.set_threshold(NEW_OBJECTS)
