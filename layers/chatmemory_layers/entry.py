"""The two commands, as their scripts start them: Ctrl-C ends them quietly while their modules are still being loaded.

Once they are loaded they see to it themselves.
"""

import sys  # and nothing else: what is imported here, Ctrl-C still finds unprepared

INTERRUPTED = 130
"""As in ``exit_codes.py``, which may not have been loaded yet."""


def pastchats_memory() -> None:
    """Be the command ``pastchats-memory``."""
    try:
        from chatmemory_layers.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def chatmemory() -> None:
    """Be the command ``chatmemory``."""
    try:
        from chatmemory_layers.server.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
