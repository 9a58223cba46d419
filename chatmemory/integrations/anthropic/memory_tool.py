"""``ChatMemoryTool`` and ``BlockingChatMemoryTool``: the tools for the SDK's runners, with the answers for the model.

``memory_files.py`` implements the commands.
"""

from __future__ import annotations

import logging
from typing import Final, TypeAlias, cast

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Failure, Outcome, Runner, ThreadRuntime
from chatmemory.input.rules import is_encodable
from chatmemory.integrations.anthropic.file_tree import CommandRefusedError
from chatmemory.integrations.anthropic.memory_files import FileBounds, FileError, MemoryFiles
from chatmemory.integrations.raising import Raising, blocking, to_its_end
from chatmemory.items.item_repository import ItemRepositoryTag

log = logging.getLogger(__name__)

Command: TypeAlias = (
    BetaMemoryTool20250818ViewCommand
    | BetaMemoryTool20250818CreateCommand
    | BetaMemoryTool20250818StrReplaceCommand
    | BetaMemoryTool20250818InsertCommand
    | BetaMemoryTool20250818DeleteCommand
    | BetaMemoryTool20250818RenameCommand
)


class ChatMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory of *namespace*, for ``AsyncAnthropic``.

    *runtime* provides ``ItemRepositoryTag``: a ``ThreadRuntime`` works with any event loop and thread; a
    ``ManagedRuntime`` works with its own event loop, faster.  The tool does not close it, and many tools may share
    it.

    A refused command raises ``ToolError``, which the model reads.  So does a failure of the store, which is also
    logged: ``__cause__.error`` is the failure as a value.

    Raises:
        ValueError: the namespace is invalid.
    """

    def __init__(
        self,
        namespace: Namespace,
        runtime: Runner[ItemRepositoryTag],
        *,
        bounds: FileBounds | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Store the arguments; nothing is opened yet.  *bounds* are the largest sizes of the memory."""
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(namespace, bounds or FileBounds())
        self._runtime = runtime

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file, or the entries of a directory."""
        return await self._run(_asked(self._files, command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file and its parent directories."""
        return await to_its_end(self._run(_asked(self._files, command)))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs exactly once in a file."""
        return await to_its_end(self._run(_asked(self._files, command)))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line of a file."""
        return await to_its_end(self._run(_asked(self._files, command)))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file, or a directory with everything in it."""
        return await to_its_end(self._run(_asked(self._files, command)))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a directory with everything in it."""
        return await to_its_end(self._run(_asked(self._files, command)))

    async def clear_all_memory(self) -> str:
        """Remove everything; a model cannot call this."""
        return await to_its_end(self._run(self._files.clear()))

    async def _run(self, effect: Effect[str, FileError, ItemRepositoryTag]) -> str:
        return _answer(await RAISING.outcome(self._runtime, effect))


class BlockingChatMemoryTool(BetaAbstractMemoryTool):
    """``ChatMemoryTool`` for ``Anthropic``, whose calls block; several threads may share one.

    Raises:
        TypeError: *runtime* is not a ``ThreadRuntime``, and can only be awaited.
        ValueError: the namespace is invalid.
    """

    def __init__(
        self,
        namespace: Namespace,
        runtime: ThreadRuntime[ItemRepositoryTag],
        *,
        bounds: FileBounds | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Store the arguments; nothing is opened yet.  *bounds* are the largest sizes of the memory."""
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(namespace, bounds or FileBounds())
        self._runtime = blocking(runtime)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file, or the entries of a directory."""
        return self._run(_asked(self._files, command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file and its parent directories."""
        return self._run(_asked(self._files, command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs exactly once in a file."""
        return self._run(_asked(self._files, command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line of a file."""
        return self._run(_asked(self._files, command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file, or a directory with everything in it."""
        return self._run(_asked(self._files, command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a directory with everything in it."""
        return self._run(_asked(self._files, command))

    def clear_all_memory(self) -> str:
        """Remove everything; a model cannot call this."""
        return self._run(self._files.clear())

    def _run(self, effect: Effect[str, FileError, ItemRepositoryTag]) -> str:
        return _answer(RAISING.outcome_blocking(self._runtime, effect))


def _asked(files: MemoryFiles, command: Command) -> Effect[str, FileError, ItemRepositoryTag]:
    """Return the effect for *command*; the SDK passes it as the model wrote it, without checks."""
    match command:
        case BetaMemoryTool20250818ViewCommand():
            return files.view(_text(command, "path"), _range(command.view_range))
        case BetaMemoryTool20250818CreateCommand():
            return files.create(_text(command, "path"), _text(command, "file_text"))
        case BetaMemoryTool20250818StrReplaceCommand():
            return files.str_replace(
                _text(command, "path"), _text(command, "old_str"), _text(command, "new_str")
            )
        case BetaMemoryTool20250818InsertCommand():
            line = _line(getattr(command, "insert_line", None), "insert_line")
            return files.insert(_text(command, "path"), line, _text(command, "insert_text"))
        case BetaMemoryTool20250818DeleteCommand():
            return files.delete(_text(command, "path"))
        case BetaMemoryTool20250818RenameCommand():
            return files.rename(_text(command, "old_path"), _text(command, "new_path"))


def _text(command: Command, name: str) -> str:
    given = getattr(command, name, None)
    if not isinstance(given, str):
        raise ToolError(f"`{name}` has to be a text, not {given!r}")
    if not is_encodable(given):  # neither the store nor the API could take it
        raise ToolError(f"`{name}` has half a character (a lone surrogate): write it whole, or leave it out")
    return given


def _line(given: object, name: str) -> int:
    if not isinstance(given, int):
        raise ToolError(f"`{name}` has to be a line number, not {given!r}")
    return given


def _range(given: object) -> list[int] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise ToolError(f"`view_range` has to be a list of two line numbers, not {given!r}")
    return [_line(number, "view_range") for number in cast("list[object]", given)]


def _answer(outcome: Outcome[str, FileError]) -> str:
    if isinstance(outcome, Failure) and isinstance(refused := outcome.failure(), CommandRefusedError):
        raise ToolError(str(refused)) from refused
    return RAISING.value(outcome)


def _failed(text: str) -> ToolError:
    # The SDK's runner logs other exceptions, and shows their repr to the model.
    log.warning("a command of the memory tool failed: %s", text)
    return ToolError(text)


RAISING: Final = Raising(refused=ToolError, failed=_failed, closed=ToolError)
