"""``linked``: joins the modules of the page into one, so that a phone loads one file instead of sixty, six at a time.

Each module becomes a function that is called once, after the modules that it imports from, and returns its exports; so
modules may use the same name for different things.  This is not a parser: it knows the forms of import and export in the
modules of the page, and refuses any other line that begins with one of these two words.
"""

import posixpath
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import Final, final

from attrs import frozen

IMPORT: Final = re.compile(r'^import \{(?P<names>[\w\s,]+)\} from "(?P<path>\.[^"]+)";$', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(?:const|class|function|async function) (?P<name>\w+))", re.MULTILINE)
"""``let`` is not allowed: a module that imports it would not see it change."""
EXPORTS: Final = re.compile(r"\bexport ?\{(?P<names>[\w\s,]+)\};?\s*\Z")
"""The export list at the end of a library."""
UNKNOWN: Final = re.compile(r"^(?:import|export)\b.*|\bimport(?:\.meta\b|\().*", re.MULTILINE)


class UnknownStatementError(ValueError):
    """A module has a form of import or export that the linker does not know."""


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
    """Return one module that does the same as *entry* with all its imports.

    Args:
        modules: the texts by path.
        entry: the path of the module that the page names.

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
