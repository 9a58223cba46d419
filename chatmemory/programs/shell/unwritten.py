"""``discard_unwritten``: drops output that nobody takes, so that the interpreter does not fail on it at its end."""

import os
import sys


def discard_unwritten() -> None:
    """Discard what standard output still buffers if it cannot be written: the disk is full, or the reader has gone."""
    try:
        sys.stdout.flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
