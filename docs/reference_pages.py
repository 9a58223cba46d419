"""The pages of ``docs/reference`` that the code itself can write: names, commands, settings, errors, HTTP and schemas.

They are written anew by each build, below ``reference/made``, and nothing in them is written by hand.
"""

import ast
import builtins
import inspect
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, get_args

import click

import chatmemory
import chatmemory.effect
import chatmemory.errors
import chatmemory.laws
import chatmemory.testing
from chatmemory.programs.commands.program import program as chatmemory_command
from chatmemory.programs.http.problems import KINDS
from chatmemory.programs.pastchats.program import program as pastchats_memory
from chatmemory_layers import stacks

ROOT: Final = Path(__file__).parents[1]
MADE: Final = Path("reference", "made")

ROOMS: Final[Mapping[str, str]] = {
    "conversation": "Conversations",
    "longterm": "Long-term memory",
    "context": "What a model receives",
    "pastchats": "Past chats",
    "items": "Items",
    "events": "The log of events",
    "access": "Who acts",
    "embedding": "Embeddings",
    "text": "Text",
    "errors": "Errors",
    "settings": "Settings",
    "effect": "Effects and layers",
    "testing": "Parts for tests",
    "laws": "Laws",
}
"""The rooms whose names are public, in the order of the pages."""

WIDTH: Final = 100
"""Of a help, in columns."""

SERVICES: Final[Sequence[str]] = (
    "ChatMemory",
    "LongTermMemory",
    "ChatContextBuilder",
    "PastChats",
    "PastChatsIndex",
)


def write_reference(source: Path) -> None:
    """Write every page.

    Args:
        source: the folder ``docs``.
    """
    folder = source / MADE
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "python").mkdir(parents=True)
    for room, names in public_names().items():
        (folder / "python" / f"{room}.rst").write_text(_room_page(room, names), "utf-8")
    for name, text in (
        ("stacks.rst", _stacks_page()),
        ("errors.md", _errors_page()),
        ("http.md", _http_page()),
        ("settings.md", _settings_page()),
        ("schemas.md", _schemas_page()),
        ("pastchats-memory.md", _command_page("pastchats-memory", pastchats_memory)),
        ("chatmemory.md", _command_page("chatmemory", chatmemory_command)),
    ):
        (folder / name).write_text(text, "utf-8")


def public_names() -> dict[str, list[str]]:
    """Return by room the names that programs may import, each where it is offered first."""
    found: dict[str, list[str]] = defaultdict(list)
    origins = _origins(Path(chatmemory.__file__).with_suffix(".pyi"))
    offered = {name: f"chatmemory.{name}" for name in chatmemory.__all__}
    for name, path in offered.items():
        found[origins[name].split(".")[1]].append(path)
    for module in (chatmemory.effect, chatmemory.errors, chatmemory.testing, chatmemory.laws):
        for name in module.__all__:
            if name not in offered:
                offered[name] = f"{module.__name__}.{name}"
                found[module.__name__.split(".")[1]].append(offered[name])
    return {room: sorted(found[room], key=_services_first) for room in ROOMS}


def _services_first(path: str) -> tuple[bool, str]:
    return path.rpartition(".")[2] not in SERVICES, path


def _origins(stub: Path) -> dict[str, str]:
    """Return the module that defines each name of a package, as its stub says."""
    tree = ast.parse(stub.read_text("utf-8"))
    return {
        alias.asname or alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _room_page(room: str, names: Sequence[str]) -> str:
    title = ROOMS[room]
    package = inspect.getdoc(import_module(f"chatmemory.{room}")) or ""
    return "\n".join([title, "=" * len(title), "", package.partition("\n\n")[0], "", *map(_directive, names)])


def _directive(name: str) -> str:
    package, _, attribute = name.rpartition(".")
    value = getattr(import_module(package), attribute)
    if inspect.isclass(value):
        return f".. autoclass:: {name}\n   :members:\n"
    if inspect.isfunction(value):
        return f".. autofunction:: {name}\n"
    return f".. autodata:: {name}\n   :no-value:\n"


def _stacks_page() -> str:
    title = "Ready stacks"
    names = [f"chatmemory_layers.stacks.{name}" for name in stacks.__all__]
    return "\n".join([title, "=" * len(title), "", *map(_directive, names)])


# --- errors ---


def _errors_page() -> str:
    """Every tag with its cause and its cure, and what each operation can fail with."""
    lines = ["# Errors by tag", "", "What each error means, and what a caller does about it.", ""]
    for tag, kind in KINDS.items():
        cure = kind.cure.replace("](/docs)", "](http.md)")  # on the server it leads elsewhere
        error = getattr(chatmemory.errors, tag, None)
        said = _first_paragraph(inspect.getdoc(error)) if error else ""
        status = f"Over HTTP: {kind.status}, *{kind.title}*."
        lines += [f"## {tag}", "", *(part for text in (said, cure, status) if text for part in (text, ""))]
    lines += ["# Errors by operation", ""]
    for service in SERVICES:
        lines += [f"## {service}", "", "| operation | can fail with |", "|---|---|"]
        lines += [f"| `{method}` | {', '.join(tags) or 'nothing'} |" for method, tags in _failures(service)]
        lines.append("")
    return "\n".join(lines)


def _failures(service: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each method of a service with the tags that its signature declares."""
    contract = getattr(chatmemory, service)
    module = inspect.getmodule(contract)
    for name, method in inspect.getmembers(contract, inspect.isfunction):
        declared = inspect.signature(method).return_annotation
        if isinstance(declared, str):
            declared = eval(declared, {}, _Names(vars(module)))  # noqa: S307  an annotation of our own
        arguments = get_args(declared)
        if not name.startswith("_") and len(arguments) > 1:
            yield name, [f"[{tag}](#{tag.lower()})" for tag in _tags(arguments[1])]


class _Names(dict[str, Any]):
    """The names of a module; those that only type checkers import stand for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(chatmemory.errors, name, None) or getattr(builtins, name, object)


def _tags(errors: Any) -> list[str]:
    return sorted(error.__name__ for error in (get_args(errors) or [errors]) if error.__name__ in KINDS)


def _first_paragraph(text: str | None) -> str:
    return (text or "").partition("\n\n")[0].replace("``", "`")


# --- HTTP ---


def _http_page() -> str:
    document = json.loads((ROOT / "schemas" / "openapi.json").read_text("utf-8"))
    lines = ["# HTTP", "", document["info"]["description"], ""]
    lines += ["The whole document: {download}`openapi.json <../../../schemas/openapi.json>`.", ""]
    sections: dict[str, list[str]] = defaultdict(list)
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in {"get", "put", "post", "patch", "delete"}:
                sections[operation["tags"][0]] += _operation(method, path, operation)
    for tag, said in sections.items():
        lines += [f"## {tag.capitalize()}", "", *said]
    return "\n".join(lines)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### `{method.upper()} {path}`", "", operation["summary"], "")
    if "description" in operation:
        yield from (operation["description"], "")
    parameters = [given for given in operation.get("parameters", ()) if "name" in given]
    if parameters:
        yield from ("| parameter | in | |", "|---|---|---|")
        for given in parameters:
            about = given.get("description", "").replace("|", "\\|").replace("\n", " ")
            yield f"| `{given['name']}` | {given['in']} | {about} |"
        yield ""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in body:
        yield from ("```json", json.dumps(body["example"], ensure_ascii=False, indent=2), "```", "")


# --- settings, schemas, commands ---


def _settings_page() -> str:
    """The configuration file with its explanations, a section for each table."""
    text = (ROOT / "config" / "chatmemory.toml").read_text("utf-8")
    introduction, *tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    said = "\n".join(line.lstrip("# ") for line in introduction.splitlines())
    lines = ["# Settings", "", said, ""]
    for table in tables:
        name = table.partition("]")[0].lstrip("[")
        lines += [f"## {name}", "", "```toml", table.strip(), "```", ""]
    return "\n".join(lines)


def _schemas_page() -> str:
    lines = [
        "# Schemas",
        "",
        "Shapes that are promised to other programs.",
        "",
        "| file | what it describes |",
        "|---|---|",
    ]
    for file in sorted((ROOT / "schemas").rglob("*.json")):
        schema = json.loads(file.read_text("utf-8"))
        about = schema.get("description") or schema.get("title") or schema.get("info", {}).get("title", "")
        name = file.relative_to(ROOT / "schemas").as_posix()
        lines.append(
            f"| {{download}}`{name} <../../../schemas/{name}>` | {' '.join(_first_paragraph(about).split())} |"
        )
    tables = [
        f"| {{download}}`{path.rpartition('/')[2]} <../../../{path}>` | the tables, as SQL |"
        for path in (
            "layers/chatmemory_layers/sqlite/schema.sql",
            "schemas/postgres.sql",
            "schemas/pastchats.sql",
        )
    ]
    return "\n".join(lines + tables)


def _command_page(name: str, command: click.Group) -> str:
    """The help of a command and of each of its own."""
    top = click.Context(command, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH)
    return "\n".join([f"# {name}", "", *_help(command, top), *_helps_below(command, top, "##")])


def _helps_below(group: click.Group, context: click.Context, heading: str) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            inner = click.Context(
                command, info_name=name, parent=context, max_content_width=WIDTH, terminal_width=WIDTH
            )
            yield from (f"{heading} {inner.command_path}", "", *_help(command, inner))
            if isinstance(command, click.Group):
                yield from _helps_below(command, inner, f"{heading}#")


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from ("```text", command.get_help(context), "```", "")
