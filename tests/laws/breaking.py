"""``Breaks``: a store that is broken on purpose says which case of the laws has to catch it.

``class SharesMetadata(Broken, breaks="l1_append_copies")`` is caught by ``test_l1_append_copies``, which names law L1.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import ClassVar, NamedTuple

ALWAYS, AT_LENGTH, IN_SERVICE = "always", "at length", "in the service"


class Catch(NamedTuple):
    kind: type
    case: str
    law: str


class Breaks:
    """The base of whatever is broken on purpose.

    Class arguments:
        breaks: the cases that catch it; "l2_atomic_batch: L20" where the case names another law than its own.
        by_program: the law by which a generated program finds it.
        by_long_program: the same, in a thorough run; ``T1 or L13`` where chance decides which one the program meets first.
        in_service: the case of the laws of long-term memory that catches it through the service.
    """

    catches: ClassVar[Sequence[Catch]] = ()
    programs: ClassVar[dict[str, str]] = {}
    in_service: ClassVar[Sequence[Catch]] = ()

    def __init_subclass__(
        cls,
        breaks: str | Sequence[str] = (),
        by_program: str = "",
        by_long_program: str = "",
        in_service: str | Sequence[str] = (),
    ) -> None:
        cls.catches = [_catch(cls, case) for case in _several(breaks)]
        cls.programs = {ALWAYS: by_program, AT_LENGTH: by_long_program}
        cls.in_service = [_catch(cls, case) for case in _several(in_service)]


def broken_in(*modules: ModuleType) -> list[type[Breaks]]:
    """Return the classes of *modules* that are broken on purpose."""
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Breaks) and kind.__module__ == module.__name__
    ]


def law_of(case: str) -> str:
    """Return the law that *case* is named after: L25 of ``l25_counts``."""
    return case.partition("_")[0].upper()


def _several(cases: str | Sequence[str]) -> Sequence[str]:
    return [cases] if isinstance(cases, str) else cases


def _catch(kind: type, case: str) -> Catch:
    name, _, law = case.partition(": ")
    return Catch(kind, f"test_{name}", law or law_of(name))
