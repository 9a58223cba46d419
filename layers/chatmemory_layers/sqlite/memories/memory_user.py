"""``UserRow``: a user of memories while a transaction writes to them, with the spaces of the vectors.

Read once and written once for all that a transaction does, like ``ConversationRow``.
"""

from typing import final

from attrs import define, field

from chatmemory.embedding.space import EmbeddingSpace
from chatmemory_layers.sqlite.engine.jobs import Transaction

SELECT_USER = "SELECT user_key, next_seq FROM memory_user WHERE user_id = :user_id"
INSERT_USER = "INSERT INTO memory_user (user_id) VALUES (:user_id) RETURNING user_key, next_seq"
UPDATE_USER = "UPDATE memory_user SET next_seq = :next_seq WHERE user_key = :user_key"

SELECT_SPACE = """
SELECT space_key FROM memory_space WHERE user_key = :user_key AND model = :model AND dim = :dim
"""
INSERT_SPACE = """
INSERT INTO memory_space (user_key, model, dim) VALUES (:user_key, :model, :dim) RETURNING space_key
"""


@final
@define(eq=False)
class UserRow:
    """The row of one user.

    Attributes:
        next_seq: the number of the next vector that becomes searchable.
        spaces: the keys of the spaces that were met.
    """

    key: int
    next_seq: int
    saved_seq: int
    spaces: dict[EmbeddingSpace, int] = field(factory=dict[EmbeddingSpace, int])

    def take_seq(self) -> int:
        """Return the number of a vector that becomes searchable."""
        self.next_seq += 1
        return self.next_seq - 1

    def space_key(self, transaction: Transaction, space: EmbeddingSpace) -> int:
        """Return the key of *space*, inserting it when it is new."""
        key = self.spaces.get(space)
        if key is None:
            columns = {"user_key": self.key, "model": space.model, "dim": space.dim}
            row = transaction.execute(SELECT_SPACE, columns).fetchone()
            (key,) = row or transaction.execute(INSERT_SPACE, columns).fetchone()
            self.spaces[space] = key
        return key

    def save(self, transaction: Transaction) -> None:
        """Write the row back if it changed."""
        if self.next_seq != self.saved_seq:
            transaction.execute(UPDATE_USER, {"user_key": self.key, "next_seq": self.next_seq})


def user_row(transaction: Transaction, user_id: str) -> UserRow:
    """Return the row, the same for every write of *transaction*."""
    held = transaction.held.get((UserRow, user_id))
    if not isinstance(held, UserRow):
        held = transaction.held[UserRow, user_id] = load_user(transaction, user_id)
    return held


def load_user(transaction: Transaction, user_id: str) -> UserRow:
    """Read the row, inserting it when the user is new."""
    user = {"user_id": user_id}
    row = transaction.execute(SELECT_USER, user).fetchone()
    key, next_seq = row or transaction.execute(INSERT_USER, user).fetchone()
    return UserRow(key, next_seq, next_seq)
