"""``Confinement``: the folders out of which nothing is read, whatever links lead where."""

import os
from collections.abc import Sequence
from typing import final


@final
class Confinement:
    """Knows *folders*, by their real names; one may begin with ``~``."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(dict.fromkeys(os.path.realpath(os.path.expanduser(one)) for one in folders))

    def is_outside(self, path: str) -> bool:
        """Tell whether *path*, which may begin with ``~``, leads to none of the folders and to nothing in them."""
        real = os.path.realpath(path if os.path.lexists(path) else os.path.expanduser(path))
        return not any(
            real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders
        )
