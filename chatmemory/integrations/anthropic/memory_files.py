"""``MemoryFiles``: the files below ``/memories`` of one user, and the six commands by which a model edits them.

A file is an item (``ItemRepository``): its key is the path after ``/memories``, its value ``{"text": ...}``.  The
item with the key ``/`` lists the files and directories.  Files are not memories, so recall does not find them: a
model rewrites a file in place, for itself, while a memory holds one statement, is superseded, and keeps its past.

Each command is one transaction, so that agents that edit the same file at once lose nothing, and a directory moves
whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, final

from attrs import field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, Failure, Outcome, Success
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import DataValidationError, RepositoryError
from chatmemory.integrations.anthropic.file_tree import (
    ROOT,
    CommandRefusedError,
    FileTree,
    Place,
    inserted,
    place_of,
    replaced,
    shown,
)
from chatmemory.items.item_repository import (
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    Labels,
    StoredItem,
    changed_items,
)
from chatmemory.longterm.memory_rules import namespace_problems

A = TypeVar("A")

Reading: TypeAlias = Generator[
    tuple[ItemName, ...], tuple[StoredItem | None, ...], tuple[tuple[ItemPut, ...], A]
]
"""An ``ItemChange`` that reads only by names, so that it also runs without a transaction."""

Steps: TypeAlias = Reading[str]
"""A command: it reads, decides, and returns the puts and the answer; it raises ``CommandRefusedError`` when refused."""

FileError: TypeAlias = CommandRefusedError | RepositoryError

OWNER: Final = "anthropic"
"""The first label of the items, see ``Labels``."""


@final
@frozen
class FileBounds:
    """The largest sizes after a command; a command that makes things smaller is never refused.

    Attributes:
        file_bytes: the size of one file, as UTF-8.  A model reads a file whole, unless it asks for a range of lines.
        total_bytes: the size of all files of one namespace together.
        entries: the number of files and directories of one namespace.
    """

    file_bytes: int = 1024 * 1024
    total_bytes: int = 16 * 1024 * 1024
    entries: int = 1000


def _checked(namespace: Namespace) -> Namespace:
    problems = namespace_problems(namespace)
    if problems:
        raise ValueError(str(DataValidationError(tuple(problems))))
    return namespace


@final
@frozen
class MemoryFiles:
    """The files of one namespace, and the commands of the memory tool on them.

    A user has separate files in each app, and separate files without an app.

    Args:
        namespace: the user, and the app if there is one.
        bounds: the largest sizes of files.

    Raises:
        ValueError: *namespace* breaks the rules of its fields.
    """

    namespace: Namespace = field(converter=_checked)
    bounds: FileBounds = FileBounds()

    @property
    def labels(self) -> Labels:
        """The labels under which the items are stored."""
        return (OWNER, f"app:{_label(self.namespace.app)}", f"user:{_label(self.namespace.user)}")

    def view(
        self, path: str, view_range: Sequence[int] | None = None
    ) -> Effect[str, FileError, ItemRepositoryTag]:
        """Return the lines of a file with their numbers, or the entries of a directory.

        Args:
            path: below ``/memories``.
            view_range: the first and the last line, counted from 1; -1: to the end.  None: all of them.
        """
        return _read(partial(self._viewed, path, view_range))

    def create(self, path: str, text: str) -> Effect[str, FileError, ItemRepositoryTag]:
        """Create a file and its parent directories; fails when the file exists."""
        return _changed(partial(self._created, path, text))

    def str_replace(self, path: str, old: str, new: str) -> Effect[str, FileError, ItemRepositoryTag]:
        """Replace *old*, which must occur exactly once in the file, by *new*."""
        return _changed(partial(self._edited, path, lambda text: replaced(path, text, old, new)))

    def insert(self, path: str, line: int, new: str) -> Effect[str, FileError, ItemRepositoryTag]:
        """Insert the text *new* after line *line* of a file; 0: at its beginning."""
        return _changed(partial(self._edited, path, lambda text: inserted(path, text, line, new)))

    def delete(self, path: str) -> Effect[str, FileError, ItemRepositoryTag]:
        """Remove a file, or a directory with everything in it."""
        return _changed(partial(self._deleted, path))

    def rename(self, old_path: str, new_path: str) -> Effect[str, FileError, ItemRepositoryTag]:
        """Move a file, or a directory with everything in it."""
        return _changed(partial(self._renamed, old_path, new_path))

    def clear(self) -> Effect[str, FileError, ItemRepositoryTag]:
        """Remove all files and directories."""
        return _changed(self._cleared)

    def _viewed(self, path: str, view_range: Sequence[int] | None) -> Steps:
        place = place_of(path)
        root, item = yield self._name(()), self._name(place)
        tree = _tree(root)
        if tree.is_directory(place):
            return (), tree.listed(place, path)
        return (), shown(path, _text_of(tree, place, path, item), view_range)

    def _created(self, path: str, text: str) -> Steps:
        place = place_of(path)
        (root,) = yield (self._name(()),)
        tree = _tree(root)
        if tree.has(place):
            _refuse(f"File {path} already exists")
        _refuse_below_a_file(tree, place, f"Cannot create {path}")
        after = self._with_text(tree, place, path, text)
        return self._puts(tree, after, {place: text}), f"File created successfully at: {path}"

    def _edited(self, path: str, edit: Callable[[str], tuple[str, str]]) -> Steps:
        place = place_of(path)
        root, item = yield self._name(()), self._name(place)
        tree = _tree(root)
        if tree.is_directory(place):
            _refuse(f"The path {path} is not a file.")
        text, answer = edit(_text_of(tree, place, path, item))
        return self._puts(tree, self._with_text(tree, place, path, text), {place: text}), answer

    def _deleted(self, path: str) -> Steps:
        place = place_of(path)
        (root,) = yield (self._name(()),)
        tree = _tree(root)
        if not place:
            _refuse(f"Cannot delete the /{ROOT} directory itself")
        if not tree.has(place):
            _refuse(f"The path {path} does not exist")
        return self._puts(tree, tree.without(place), {}), f"Successfully deleted {path}"

    def _renamed(self, old_path: str, new_path: str) -> Steps:
        old, new = place_of(old_path), place_of(new_path)
        (root,) = yield (self._name(()),)
        tree = _tree(root)
        if not old:
            _refuse(f"Cannot rename the /{ROOT} directory itself")
        if tree.has(new):
            _refuse(f"The destination {new_path} already exists")
        if not tree.has(old):
            _refuse(f"The path {old_path} does not exist")
        if new[: len(old)] == old:
            _refuse(f"Cannot rename {old_path} to {new_path}: it would be inside itself")
        _refuse_below_a_file(tree, new, f"Cannot rename {old_path} to {new_path}")
        from_places = tree.files_below(old)
        items = yield tuple(map(self._name, from_places))
        texts: dict[Place, str] = {}
        for place, item in zip(from_places, items, strict=True):
            there = place_of(_path(new + place[len(old) :]))  # the new place may be too long
            if item is not None:
                texts[there] = _text(item)
        answer = f"Successfully renamed {old_path} to {new_path}"
        return self._puts(tree, tree.moved(old, new), texts), answer

    def _cleared(self) -> Steps:
        (root,) = yield (self._name(()),)
        return self._puts(_tree(root), FileTree(), {}), "All memory cleared"

    def _name(self, place: Place) -> ItemName:
        return ItemName(self.labels, _key(place))

    def _puts(self, before: FileTree, after: FileTree, texts: Mapping[Place, str]) -> tuple[ItemPut, ...]:
        """Return the puts that change *before* to *after*, with *texts* as the texts of files."""
        self._check_bounds(before, after)
        puts = [ItemPut(self._name(place), None) for place in before.files if place not in after.files]
        for place, text in texts.items():
            puts.append(ItemPut(self._name(place), json.dumps({"text": text}, ensure_ascii=False)))
        if after != before:
            puts.append(ItemPut(self._name(()), _tree_value(after)))
        return tuple(puts)

    def _with_text(self, tree: FileTree, place: Place, path: str, text: str) -> FileTree:
        size = len(text.encode())
        if size > max(self.bounds.file_bytes, tree.files.get(place, 0)):
            _refuse(
                f"The file {path} would have {size} bytes, more than the {self.bounds.file_bytes} that a file may "
                "have: split it, or leave out what is no longer needed"
            )
        return tree.with_file(place, size)

    def _check_bounds(self, before: FileTree, after: FileTree) -> None:
        if after.total_bytes > max(self.bounds.total_bytes, before.total_bytes):
            _refuse(
                f"The files in /{ROOT} would have {after.total_bytes} bytes, more than the {self.bounds.total_bytes} "
                "that they may have: shorten or delete some first"
            )
        if after.entries > max(self.bounds.entries, before.entries):
            _refuse(
                f"There would be {after.entries} files and directories in /{ROOT}, more than the {self.bounds.entries} "
                "that there may be: delete some first, or put into one file what belongs together"
            )


@Effect.gen
async def _changed(do: Do[FileError, ItemRepositoryTag], steps: Callable[[], Steps]) -> str:
    """Run a command in one transaction."""
    return _answer(do, await do(changed_items(partial(_attempted, steps))))


@Effect.gen
async def _read(do: Do[FileError, ItemRepositoryTag], steps: Callable[[], Steps]) -> str:
    """Run a command that only reads, without a transaction: it waits for no writer."""
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    attempt = _attempted(steps)
    found: tuple[StoredItem | None, ...] | None = None
    try:
        while True:
            names = next(attempt) if found is None else attempt.send(found)
            found = await do(items.read(names, now=now))
    except StopIteration as end:
        _, outcome = end.value
    return _answer(do, outcome)


def _answer(do: Do[FileError, Any], outcome: Outcome[str, CommandRefusedError]) -> str:
    return outcome.unwrap() if isinstance(outcome, Success) else do.fail(outcome.failure())


def _attempted(steps: Callable[[], Steps]) -> Reading[Outcome[str, CommandRefusedError]]:
    try:
        puts, answer = yield from steps()
    except CommandRefusedError as refusal:
        return (), Failure(refusal)
    return puts, Success(answer)


def _refuse(text: str) -> NoReturn:
    raise CommandRefusedError(text)


def _refuse_below_a_file(tree: FileTree, place: Place, command: str) -> None:
    file = tree.file_above(place)
    if file is not None:
        _refuse(f"{command}: {_path(file)} is a file, not a directory")


def _text_of(tree: FileTree, place: Place, path: str, item: StoredItem | None) -> str:
    if place not in tree.files:
        _refuse(f"The path {path} does not exist. Please provide a valid path.")
    if item is None:  # removed without these commands
        _refuse(f"The file {path} no longer exists (may have been deleted or renamed concurrently).")
    return _text(item)


def _text(item: StoredItem) -> str:
    text: str = json.loads(item.value)["text"]
    return text


def _tree(item: StoredItem | None) -> FileTree:
    if item is None:
        return FileTree()
    kept = json.loads(item.value)
    return FileTree(
        frozenset(map(_place, kept["directories"])),
        {_place(key): size for key, size in kept["files"].items()},
    )


def _tree_value(tree: FileTree) -> str | None:
    if tree == FileTree():
        return None
    directories = sorted(map(_key, tree.directories))
    files = {_key(place): size for place, size in sorted(tree.files.items())}
    return json.dumps({"directories": directories, "files": files}, ensure_ascii=False)


def _key(place: Place) -> str:
    return "/" + "/".join(place)


def _place(key: str) -> Place:
    return tuple(key[1:].split("/"))


def _path(place: Place) -> str:
    return f"/{ROOT}" + "".join([f"/{name}" for name in place])


def _label(text: str) -> str:
    """Return *text* escaped for a label; different texts give different labels."""
    return text.replace("%", "%25").replace(".", "%2E")
