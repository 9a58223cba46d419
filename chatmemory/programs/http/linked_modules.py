"""``linked``: the modules of the page as one, so that a phone asks for one file and not for sixty, six at a time.

Each module becomes a function that is called once, after those that it imports from, and returns what it exports; two
modules may use one name for two things.  This is no parser: it knows how the modules of the page import and export, and
refuses whatever else has one of the two words at the beginning of a line.
"""

import posixpath
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import Final, final

from attrs import frozen

IMPORT: Final = re.compile(r'^import \{(?P<names>[\w\s,]+)\} from "(?P<path>\.[^"]+)";$', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(?:const|class|function|async function) (?P<name>\w+))", re.MULTILINE)
"""Not ``let``: a module that imports it would not see it change."""
EXPORTS: Final = re.compile(r"\bexport ?\{(?P<names>[\w\s,]+)\};?\s*\Z")
"""The list at the end of a library."""
UNKNOWN: Final = re.compile(r"^(?:import|export)\b.*|\bimport(?:\.meta\b|\().*", re.MULTILINE)


class UnknownStatementError(ValueError):
    """A module imports or exports in a way that the linker does not know."""


@final
@frozen
class _Part:
    """One module.

    Attributes:
        text: without its exports, and with its imports taken from ``modules``.
        imports: the names that it takes from other modules, by their paths.
        exports: the names inside by the names outside.
    """

    text: str
    imports: Mapping[str, frozenset[str]]
    exports: Mapping[str, str]


def linked(modules: Mapping[str, str], entry: str) -> str:
    """Return one module that does what *entry* does.

    Args:
        modules: the texts by their paths.
        entry: the path of the module that the page names.

    Raises:
        UnknownStatementError: a module imports what is not there, or is written in a way that is not known here.
        graphlib.CycleError: modules import each other.
    """
    parts: dict[str, _Part] = {}
    wanted = [entry]
    for path in wanted:  # which grows: one order for each start, and so one address
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
