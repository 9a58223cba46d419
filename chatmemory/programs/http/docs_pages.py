"""``docs_pages``: HTML pages of the OpenAPI document and of the problems, made by the server, without scripts.

They load nothing from the internet, and obey the content security policy that every answer of the server has.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import Any, Final, final
from urllib.parse import quote, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.input.json_value import JsonObject
from chatmemory.programs.http.page_files import PageFile
from chatmemory.programs.http.problems import KINDS, PROBLEMS_PAGE, UNAVAILABLE

DOCS_PAGE: Final = "/docs"
STYLE: Final = "/docs/docs.css"
LINKS: Final = (
    f'<nav><a href="{DOCS_PAGE}">Operations</a> <a href="{PROBLEMS_PAGE}">Problems</a> '
    '<a href="/openapi.json">OpenAPI</a> <a href="/">Open the page</a></nav>'
)
METHODS: Final = ("get", "post", "put", "patch", "delete")


def docs_pages(document: Callable[[], JsonObject]) -> Mapping[str, ASGIApp]:
    """Return the pages by path; *document* returns the OpenAPI document when somebody first opens the page of the operations."""
    return {
        **problems_page(LINKS),
        DOCS_PAGE: _MadePage(lambda: _page("The operations of chatmemory", _operations(document()), LINKS)),
    }


def problems_page(links: str = "") -> Mapping[str, ASGIApp]:
    """Return the page that the ``type`` of problem documents links to, and its style sheet, by path.

    *links* is HTML with links to the other pages of the server.
    """
    style = files("chatmemory.programs.http") / "docs.css"
    return {
        PROBLEMS_PAGE: _MadePage(lambda: _page("The problems of chatmemory", _problems(), links)),
        STYLE: PageFile(STYLE, style.read_bytes()),
    }


@final
class _MadePage:
    """A page that is made at its first request."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    @cached_property
    def _file(self) -> PageFile:
        return PageFile("page.html", self._make().encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._file(scope, receive, send)


def _page(title: str, parts: Iterator[str], links: str) -> str:
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<title>{title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{STYLE}"></head><body>',
            f"{links}<main><h1>{title}</h1>",
            *parts,
            "</main></body></html>",
        ]
    )


def _operations(document: Any) -> Iterator[str]:
    described = [
        (path, method, methods[method])
        for path, methods in document["paths"].items()
        for method in METHODS
        if method in methods
    ]
    yield f"<p>{_prose(document['info']['description'])}</p><ul>"
    for path, method, operation in described:
        name = f"<code>{method.upper()} {escape(path)}</code>"
        yield f'<li><a href="#{operation["operationId"]}">{name}</a> {_prose(operation["summary"])}</li>'
    yield "</ul>"
    for path, method, operation in described:
        yield from _operation(path, method, operation, needs_token=bool(document["security"]))
    yield "<h2>Schemas</h2>"
    for name, schema in document["components"]["schemas"].items():
        yield f'<h3 id="{name}">{name}</h3><p>{_prose(schema.get("description", ""))}</p>'
        yield from _rows(_fields(schema))


def _operation(path: str, method: str, operation: Any, *, needs_token: bool) -> Iterator[str]:
    yield f'<section><h2 id="{operation["operationId"]}"><code>{method.upper()} {escape(path)}</code></h2>'
    yield f"<p>{_prose(operation['summary'])}</p><p>{_prose(operation.get('description', ''))}</p>"
    if operation.get("security") == []:
        yield "<p>This operation needs no token.</p>"
    yield from _rows(
        (
            parameter["name"],
            f"{parameter['in']}; {_type(parameter['schema'])}",
            parameter.get("description", ""),
        )
        for parameter in operation["parameters"]
    )
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        yield f"<p>Body: {_type(body['schema'])}</p>"
    is_open = operation.get("security") == [] or not needs_token
    yield f"<pre>{escape(_curl(path, method, operation, body, is_open=is_open))}</pre>"
    yield from _rows(
        (status, _answer(answer), answer.get("description", ""))
        for status, answer in operation["responses"].items()
        if "$ref" not in answer
    )
    yield "</section>"


def _curl(path: str, method: str, operation: Any, body: Any, *, is_open: bool) -> str:
    """Return the example of an operation as a curl command."""
    sent = {one["name"]: one for one in operation["parameters"] if "example" in one}
    path = re.sub(r"{(\w+)}", lambda name: quote(sent[name[1]]["example"], safe=""), path)
    query = urlencode({name: one["example"] for name, one in sent.items() if one["in"] == "query"})
    lines = [f"curl -X {method.upper()} 'http://127.0.0.1:8642{path}{'?' if query else ''}{query}'"]
    if not is_open:
        lines.append('-H "Authorization: Bearer $TOKEN"')
    if body:
        text = json.dumps(body["example"], ensure_ascii=False).replace("'", r"'\''")
        lines += ["-H 'Content-Type: application/json'", f"-d '{text}'"]
    return " \\\n  ".join(lines)


def _problems() -> Iterator[str]:
    yield "<p>A request that fails is answered with a problem document (RFC 9457). Its <code>tag</code> is one of the following.</p>"
    for tag, kind in sorted(KINDS.items()):
        also = f" or {UNAVAILABLE.status}" if tag == "GenericMemoryError" else ""
        yield f'<h2 id="{tag}">{tag}</h2><p><strong>{kind.status}{also}: {kind.title}.</strong> {_prose(kind.cure)}</p>'


def _fields(schema: Any) -> Iterator[tuple[str, str, str]]:
    for name, field in schema.get("properties", {}).items():
        needed = "; required" if name in schema.get("required", ()) else ""
        yield name, _type(field) + needed, field.get("description", "")


def _type(schema: Any) -> str:
    """Return the type of *schema* in words, as HTML."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        words = schema.get("enum", [schema.get("const")])
        return " or ".join(f"<code>{escape(json.dumps(word, ensure_ascii=False))}</code>" for word in words)
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return escape(schema.get("format", schema.get("type", "any JSON")))


def _answer(answer: Any) -> str:
    return " or ".join(_type(content["schema"]) for content in answer.get("content", {}).values())


def _rows(rows: Any) -> Iterator[str]:
    """Yield a table of *rows*, each with a name, a type as HTML, and prose; yield nothing if there are no rows."""
    told = [
        f"<tr><td><code>{escape(name)}</code></td><td>{kind}</td><td>{_prose(prose)}</td></tr>"
        for name, kind, prose in rows
    ]
    if told:
        yield "<table>" + "".join(told) + "</table>"


def _prose(text: str) -> str:
    """Return prose as HTML, with code from backticks, and links."""
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\[([^\]]+)\]\((/[\w/]*)\)", r'<a href="\2">\1</a>', html)
