"""The folders in which tools and editors keep their files, on each operating system."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

_EDITORS: Final = (
    "Code",
    "Code - Insiders",
    "VSCodium",
    "VSCodium - Insiders",
    "Cursor",
    "Windsurf",
    "Trae",
    "Positron",
    "code-server",
)
DATA_FOLDERS: Final = ("$XDG_DATA_HOME", "~/.local/share", "$LOCALAPPDATA", "~/Library/Application Support")
_CONFIGURATIONS: Final = ("~/.config", "~/Library/Application Support", "$APPDATA")
_SERVERS: Final = (
    "~/.vscode-server/data",
    "~/.vscode-server-insiders/data",
    "~/.cursor-server/data",
    "~/.vscode-remote/data",
    "~/.local/share/code-server",
)

USER_FOLDERS: Final = (  # of Visual Studio Code, its forks and their extensions
    *(f"{configuration}/{editor}/User" for configuration in _CONFIGURATIONS for editor in _EDITORS),
    *(f"{server}/User" for server in _SERVERS),
)


def folder_of(uri: str) -> str:
    """Return the folder that *uri* names; a text that is not a URI is returned unchanged."""
    try:
        path = unquote(urlsplit(uri).path) if "://" in uri else uri
    except ValueError:  # not a URI: half an address of IPv6
        return uri
    # "/c:/work" of a file on Windows.
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path
