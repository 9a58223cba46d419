"""``Transaction``: what the writes of a group share: a cursor, and rows that are read once and written once."""

import sqlite3
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias, TypeVar, final

from attrs import define, field

MOST_KEPT: Final = 4096
"""The number of rows that are kept from one transaction to the next, some 4 MB."""

Execute: TypeAlias = Callable[..., sqlite3.Cursor]
"""``execute`` of a connection, a cursor or a ``Transaction``."""


class HeldRow(Protocol):
    """A row that a transaction writes once, however many writes of the group change it."""

    def save(self, transaction: "Transaction", /) -> None:
        """Write the row."""
        ...


H = TypeVar("H", bound=HeldRow)
HeldRows: TypeAlias = dict[tuple[type, str], HeldRow]
"""Rows by their class and name."""


class RowTakenError(Exception):
    """Says that an insert met an existing row: the group runs again, and checks for existing rows first."""


@final
@define(eq=False)
class Transaction:
    """The transaction in which a write runs.

    Attributes:
        cursor: for statements that leave every held row correct; fetch before executing again.
        held: rows that the writes of a group share.  The next group uses them too, unless another process has written to
            the file, or a write of this group has used ``execute`` or ``executemany``.
        looks_first: whether a write has to check for existing rows before it inserts its own.
        keeps_held: whether all held rows are still correct after the commit.
        waiting: rows of one kind, which are written together, in the order in which they were added.
        changed: held rows that are saved before the commit.
    """

    cursor: sqlite3.Cursor
    held: HeldRows = field(factory=dict[tuple[type, str], HeldRow])
    looks_first: bool = False
    keeps_held: bool = True
    waiting: HeldRow | None = None
    changed: dict[HeldRow, None] = field(factory=dict[HeldRow, None])

    @property
    def execute(self) -> Execute:
        """Executes any statement; all use one cursor, so fetch before executing again."""
        self.keeps_held = False
        return self.cursor.execute

    @property
    def executemany(self) -> Execute:
        """Executes any statement for each of its rows, on the same cursor."""
        self.keeps_held = False
        return self.cursor.executemany

    def waiting_as(self, kind: type[H]) -> H:
        """Return the waiting rows of *kind*; waiting rows of another kind came earlier, and are written now."""
        waiting = self.waiting
        if not isinstance(waiting, kind):
            self.write_waiting()
            waiting = self.waiting = kind()
        return waiting

    def write_waiting(self) -> None:
        """Write the waiting rows, so that statements see them.

        Raises:
            RowTakenError: one of them exists already.
        """
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            waiting.save(self)


@final
@define(eq=False)
class KeptRows:
    """The rows that groups of writes keep from one transaction to the next.

    Attributes:
        rows: the rows held when the last transaction ended.
        data_version: SQLite's ``data_version``, as the connection read it then; it grows when another connection writes.
    """

    rows: HeldRows = field(factory=dict[tuple[type, str], HeldRow])
    data_version: int = 0
