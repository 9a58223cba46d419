"""``RepositoryError``: the error of a store."""

from typing import Literal, TypeAlias, final

from attrs import field, frozen

RepositoryProblem: TypeAlias = Literal[
    "missing",
    "unavailable",
    "busy",
    "full",
    "no_memory",
    "read_only",
    "damaged",
    "not_a_store",
    "newer_schema",
    "upgraded",
    "foreign_store",
    "row_security",
    "closed",
    "wrong_loop",
    "forked",
    "key_reused",
    "outcome_unknown",
    "unexpected",
]

_ADVICE: dict[RepositoryProblem, str] = {
    "missing": "create it first, then try again",
    "unavailable": "check the path or the address, then try again",
    "busy": "another writer holds the store; try again",
    "full": "free some space on the disk, then try again; what was acknowledged is safe",
    "no_memory": "free some memory, then try again; what was acknowledged is safe",
    "read_only": "make the file and its folder writable, or open it for reading only",
    "damaged": "restore a backup, or copy what is readable with the sqlite3 shell's .recover",
    "not_a_store": "give the path of a chatmemory store, or of a file that does not exist yet",
    "newer_schema": "update chatmemory: the store was written by a newer version and is left untouched",
    "upgraded": "another program upgraded this store: restart with the version that took this step, or a newer one",
    "foreign_store": "it belongs to another application and is left untouched: give the path of another file",
    "row_security": "the setting memory.store.postgres.rowSecurity, the role and the tables have to agree",
    "closed": "open the store again: its runtime was closed",
    "wrong_loop": "a store belongs to the event loop that opened it: open one in each loop, or give the layer to "
    "ThreadRuntime(layer), whose effects run for every loop and thread",
    "forked": "the locks and the connections of a store are not valid after a fork: open the store again in the child process",
    "key_reused": "the key belongs to another request: repeat that request, or use a new key",
    "outcome_unknown": "the write may or may not have happened; repeating it with the same ids is safe",
    "unexpected": "see the cause",
}
_WORTH_RETRYING: frozenset[RepositoryProblem] = frozenset(
    {"missing", "unavailable", "busy", "full", "no_memory", "outcome_unknown"}
)


@final
@frozen
class RepositoryError:
    """The store did not complete *operation*."""

    operation: str
    problem: RepositoryProblem
    detail: str = ""
    cause: BaseException | None = field(default=None, eq=False, repr=False)
    tag: Literal["RepositoryError"] = "RepositoryError"

    @property
    def retry_is_safe(self) -> bool:
        """True when waiting or a repair helps; a message or a memory with an id is never stored twice."""
        return self.problem in _WORTH_RETRYING

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.operation}: {self.problem.replace('_', ' ')}{detail}: {_ADVICE.get(self.problem, 'see the cause')}"
