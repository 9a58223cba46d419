"""``page_files``: the files of the page, read once; a request looks its path up in a table, so it can reach no other file.

``page/index.html`` names modules and stylesheets one by one.  It is served with one of each, which contain all of them
and have a hash of their content in their address: browsers cache them, and a reload requests only ``index.html``.

``linked`` joins the modules into one, so that a phone loads one file instead of sixty, six at a time.  Each module becomes a
function that is called once, after the modules that it imports from, and returns its exports; so modules may use the same
name for different things.  ``linked`` is not a parser: it knows the forms of import and export in the modules of the page,
and refuses any other line that begins with one of these two words.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, final

from attrs import frozen
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

IMPORT: Final = re.compile(r'^import \{(?P<names>[\w\s,]+)\} from "(?P<path>\.[^"]+)";$', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(?:const|class|function|async function) (?P<name>\w+))", re.MULTILINE)
"""``let`` is not allowed: a module that imports it would not see it change."""

EXPORTS: Final = re.compile(r"\bexport ?\{(?P<names>[\w\s,]+)\};?\s*\Z")
"""The export list at the end of a library."""

UNKNOWN: Final = re.compile(r"^(?:import|export)\b.*|\bimport(?:\.meta\b|\().*", re.MULTILINE)
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


class UnknownStatementError(ValueError):
    """A module has a form of import or export that the linker does not know."""


@final
class PageFile:
    """An ASGI application that answers with one file."""

    def __init__(self, name: str, content: bytes, *, caching: str = ASKED_AGAIN) -> None:
        """Serve *content*; the ending of *name* determines its media type, and *caching* is its ``Cache-Control``."""
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


@final
@frozen
class _Part:
    """One module.

    Attributes:
        text: the module without its export statements, and with its imports taken from ``modules``.
        imports: the names that it imports, by the path of the other module.
        exports: the local names by the exported names.
    """

    text: str
    imports: Mapping[str, frozenset[str]]
    exports: Mapping[str, str]


def linked(modules: Mapping[str, str], entry: str) -> str:
    """Return one module that does the same as *entry* with all its imports; *modules* has the texts by path.

    Raises:
        UnknownStatementError: a module imports a name that does not exist, or has an unknown form of import or export.
        graphlib.CycleError: modules import each other.
    """
    parts: dict[str, _Part] = {}
    wanted = [entry]
    for path in wanted:  # the list grows meanwhile; a fixed order gives the file a fixed address
        if path not in parts:
            parts[path] = _part(path, modules[path])
            wanted += parts[path].imports
    for path, part in parts.items():
        for other, names in part.imports.items():
            if absent := names - parts[other].exports.keys():
                raise UnknownStatementError(f"{path}: {other} does not export {', '.join(sorted(absent))}")
    order = TopologicalSorter({path: part.imports for path, part in parts.items()}).static_order()
    return "\n".join(["const modules = {};", *(_function(path, parts[path]) for path in order), ""])


def _part(path: str, text: str) -> _Part:
    imports: dict[str, frozenset[str]] = {}

    def taken(statement: re.Match[str]) -> str:
        other = posixpath.normpath(posixpath.join(posixpath.dirname(path), statement["path"]))
        names = frozenset(_names(statement["names"]))
        imports[other] = imports.get(other, frozenset()) | names
        return f'const {{{statement["names"]}}} = modules["{other}"];'

    text = IMPORT.sub(taken, text)
    exports = {found["name"]: found["name"] for found in EXPORT.finditer(text)}
    text = EXPORT.sub("", text)
    if listed := EXPORTS.search(text):
        for name in _names(listed["names"]):
            inside, _, outside = name.partition(" as ")
            exports[outside or inside] = inside
        text = text[: listed.start()]
    if unknown := UNKNOWN.search(text):
        raise UnknownStatementError(f"{path}: {unknown.group()[:100]}")
    return _Part(text, imports, exports)


def _names(listed: str) -> list[str]:
    return [" ".join(name.split()) for name in listed.split(",") if name.strip()]


def _function(path: str, part: _Part) -> str:
    returned = ", ".join(f"{outside}: {inside}" for outside, inside in part.exports.items())
    return f'modules["{path}"] = (() => {{\n{part.text.strip()}\nreturn {{ {returned} }};\n}})();'
