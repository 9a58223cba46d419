"""``for_each``: one test for a list of cheap cases, which fails with every case that fails."""

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

from _pytest.mark import ParameterSet


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., Any]], Any]:
    """Run a test, or a coroutine, once for each of *cases*: like ``pytest.mark.parametrize``, but as one test.

    All cases share the fixtures, so the test must not change them.

    Args:
        names: the parameters that take a case; with several names each case is a tuple.
        cases: at least one.

    Raises:
        ExceptionGroup: when the test runs: one exception for each failing case, with a note that names the case.
    """
    if isinstance(names, str):
        names = tuple(names.replace(",", " ").split())
    listed = [dict(zip(names, values_of(case, len(names)), strict=True)) for case in cases]
    assert listed, "no case"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(**fixtures: Any) -> None:
            with reported(len(listed)) as failed:
                for case in listed:
                    with collected(failed, case):
                        test(**fixtures, **case)

        async def run_async(**fixtures: Any) -> None:
            with reported(len(listed)) as failed:
                for case in listed:
                    with collected(failed, case):
                        await test(**fixtures, **case)

        made = run_async if inspect.iscoroutinefunction(test) else run
        made.__dict__.update(test.__dict__)  # marks
        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(made, attribute, getattr(test, attribute))
        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in names]
        made.__signature__ = signature.replace(parameters=fixtures)  # pytest reads it
        return made

    return decorate


def values_of(case: Any, count: int) -> tuple[Any, ...]:
    if isinstance(case, ParameterSet):
        assert not case.marks, "a case with a mark of its own is a test of its own"
        return case.values
    return tuple(case) if count > 1 else (case,)


@contextmanager
def collected(failed: list[Exception], case: dict[str, Any]) -> Generator[None]:
    """Append the exception of a case to *failed*, with a note that names the case."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  all are reported
        error.add_note(f"in the case {', '.join(f'{name}={value!r}' for name, value in case.items())}")
        failed.append(error)


@contextmanager
def reported(count: int) -> Generator[list[Exception]]:
    """Give a list of failures, and raise them as one group at the end; *count* is the number of all cases."""
    failed: list[Exception] = []
    yield failed
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} cases fail", failed)
