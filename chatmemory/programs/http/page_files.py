"""``page_files``: the files of the page, read once; a request looks its path up in a table, so it can reach no other file.

``page/index.html`` names modules and stylesheets one by one.  It is served with one of each, which contain all of them
and have a hash of their content in their address: browsers cache them, and a reload requests only ``index.html``.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chatmemory.programs.http.linked_modules import linked

INDEX: Final = "/page/index.html"
STYLESHEETS: Final = re.compile(r'(?:<link rel="stylesheet" href="[^"]+">\s*)+')
SCRIPT: Final = re.compile(r'(?<=<script type="module" src=")[^"]+')
MEDIA_TYPES: Final = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}

# Private, because a shared cache would have to know which browsers accept gzip.
ASKED_AGAIN: Final = "private, no-cache"
"""A browser may cache the file, but must ask each time whether it has changed."""
KEPT: Final = "private, max-age=31536000, immutable"
"""Cached for a year, the longest possible time, because changed content has a new address."""


@final
class PageFile:
    """An ASGI application that answers with one file."""

    def __init__(self, name: str, content: bytes, *, caching: str = ASKED_AGAIN) -> None:
        """Serve *content*.

        Args:
            name: the name of the file; its ending determines the media type.
            content: the bytes of the file.
            caching: the value of ``Cache-Control``.
        """
        self._content = content
        self._media_type = MEDIA_TYPES[name.rpartition(".")[2]]
        self._headers = {"ETag": f'"{_digest(content)}"', "Cache-Control": caching}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the file, or with 304 if it has not changed."""
        response = Response(self._content, headers=self._headers, media_type=self._media_type)
        if Headers(scope=scope).get("if-none-match") == self._headers["ETag"]:
            response = Response(status_code=304, headers=self._headers)
        await response(scope, receive, send)


@cache
def page_files() -> Mapping[str, PageFile]:
    """Return the files by path: the page at ``/``, and its parts below ``/page/``."""
    texts = dict(_below(files("chatmemory.programs.http") / "page", "/page/"))
    index = texts.pop(INDEX).decode()
    modules = {path: text.decode() for path, text in texts.items() if path.endswith(".js")}
    script = linked(modules, SCRIPT.findall(index)[0]).encode()
    links = STYLESHEETS.findall(index)[0]
    style = b"".join(texts[path] for path in re.findall(r'href="([^"]+)"', links))
    script_path, style_path = f"/page/{_digest(script)}.js", f"/page/{_digest(style)}.css"
    index = SCRIPT.sub(
        script_path, STYLESHEETS.sub(f'<link rel="stylesheet" href="{style_path}">\n    ', index)
    )
    return {
        "/": PageFile(INDEX, index.encode()),
        script_path: PageFile(script_path, script, caching=KEPT),
        style_path: PageFile(style_path, style, caching=KEPT),
        **{path: PageFile(path, text) for path, text in texts.items()},
    }


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _below(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        name = f"{path}{entry.name}"
        if entry.is_dir():
            yield from _below(entry, f"{name}/")
        else:
            yield name, entry.read_bytes()
