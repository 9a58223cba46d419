"""Where Visual Studio Code, its kin and their extensions keep the files of a user, on each system."""

from typing import Final

from chatmemory.contracts.history_format import KnownRoot

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
_CONFIGURATIONS: Final = ("~/.config", "~/Library/Application Support", "$APPDATA")
_SERVERS: Final = (
    "~/.vscode-server/data",
    "~/.vscode-server-insiders/data",
    "~/.cursor-server/data",
    "~/.vscode-remote/data",
    "~/.local/share/code-server",
)

USER_FOLDERS: Final = (
    *(f"{configuration}/{editor}/User" for configuration in _CONFIGURATIONS for editor in _EDITORS),
    *(f"{server}/User" for server in _SERVERS),
)


def roots_of_editors(*files: str) -> tuple[KnownRoot, ...]:
    """Return the roots of *files*, globs below the folder of a user."""
    return tuple(KnownRoot(folder, files) for folder in USER_FOLDERS)
