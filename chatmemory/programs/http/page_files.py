"""``page_files``: the files of the page, read once; what is asked for is looked up, so no path leads anywhere else."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

INDEX: Final = "/page/index.html"
MEDIA_TYPES: Final = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}


@final
class PageFile:
    """Answers with one file, which a browser may keep as long as it asks whether it has changed."""

    def __init__(self, name: str, content: bytes) -> None:
        """Serve *content*."""
        self._content = content
        self._media_type = MEDIA_TYPES[name.rpartition(".")[2]]
        self._headers = {
            "ETag": f'"{sha256(content).hexdigest()[:16]}"',
            "Cache-Control": "no-cache",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the file, or that it has not changed."""
        response = Response(self._content, headers=self._headers, media_type=self._media_type)
        if Headers(scope=scope).get("if-none-match") == self._headers["ETag"]:
            response = Response(status_code=304, headers=self._headers)
        await response(scope, receive, send)


def page_files() -> Mapping[str, PageFile]:
    """Return the files by their paths: ``index.html`` at ``/``, the others below ``/page/``."""
    below = _below(files("chatmemory.programs.http") / "page", "/page/")
    return {"/" if path == INDEX else path: PageFile(path, file.read_bytes()) for path, file in below}


def _below(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        name = f"{path}{entry.name}"
        if entry.is_dir():
            yield from _below(entry, f"{name}/")
        else:
            yield name, entry
