"""How reading and writing long-term memories can fail, beside their input, their store and the embedder."""

from typing import Literal, final

from attrs import frozen


@final
@frozen
class MemoryNotFoundError:
    """The namespace sees no memory of this id."""

    memory_id: str
    tag: Literal["MemoryNotFoundError"] = "MemoryNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """False: it was forgotten, or belongs to another namespace."""
        return False

    def __str__(self) -> str:
        return f"no memory {self.memory_id!r} in this namespace: list() shows those that are there"


@final
@frozen
class MemoryConflictError:
    """These ids are taken by memories that say something else; nothing was stored."""

    memory_ids: tuple[str, ...]
    tag: Literal["MemoryConflictError"] = "MemoryConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the id stays taken."""
        return False

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.memory_ids))
        return f"{taken} already stored with another content: update() it, or give the new memory an id of its own"


@final
@frozen
class MemoryChangedError:
    """The memory is at another version than the writer expected; nothing was changed."""

    memory_id: str
    expected: int
    actual: int
    tag: Literal["MemoryChangedError"] = "MemoryChangedError"

    @property
    def retry_is_safe(self) -> bool:
        """False: read the memory again and decide anew."""
        return False

    def __str__(self) -> str:
        return (
            f"memory {self.memory_id!r} is at version {self.actual}, not {self.expected}: "
            f"read it again and change it with expected_version={self.actual}"
        )
