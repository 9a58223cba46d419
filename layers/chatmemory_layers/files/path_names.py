r"""Names that are no text: a file system may hold any bytes, a store only characters.

Such a name is shown with ``\xff`` for a byte that is no UTF-8, and is found again by what is shown.
"""

import os
import re
from typing import Final

_NO_TEXT: Final = re.compile("[\udc80-\udcff]")  # what the interpreter makes of bytes that are no UTF-8
_SHOWN: Final = re.compile(rb"\\x([89a-f][0-9a-f])")


def shown_path(real: str) -> str:
    """Return the path *real* as text."""
    if real.isascii() or not _NO_TEXT.search(real):
        return real
    return os.fsencode(real).decode("utf-8", "backslashreplace")


def real_path(shown: str) -> str:
    r"""Return what the file system calls the path that was shown; a name may hold the four characters ``\xff`` too."""
    if "\\x" not in shown or os.path.lexists(shown):
        return shown
    return os.fsdecode(_SHOWN.sub(lambda match: bytes.fromhex(match[1].decode()), shown.encode()))
