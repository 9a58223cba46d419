"""``for_each``: one test for a list of cheap cases, which fails with every case that fails."""

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from _pytest.mark import ParameterSet


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., Any]], Any]:
    """Run a test, or a coroutine, once for each of *cases*: like ``pytest.mark.parametrize``, but as one test.

    Its fixtures are made once, so it suits a test that leaves them as they were.

    Args:
        names: the parameters that take a case; several: each case is a tuple.
        cases: at least one.
    """
    if isinstance(names, str):
        names = tuple(names.replace(",", " ").split())
    listed = [dict(zip(names, values_of(case, len(names)), strict=True)) for case in cases]
    assert listed, "no case"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(**fixtures: Any) -> None:
            failed = [
                error for case in listed if (error := failure_of(partial(test, **fixtures, **case), case))
            ]
            report(failed, len(listed))

        async def run_async(**fixtures: Any) -> None:
            failed = []
            for case in listed:
                try:
                    await test(**fixtures, **case)
                except Exception as error:  # noqa: BLE001  all are reported
                    failed.append(noted(error, case))
            report(failed, len(listed))

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


def failure_of(call: Callable[[], object], case: dict[str, Any]) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001  all are reported
        return noted(error, case)
    return None


def noted(error: Exception, case: dict[str, Any]) -> Exception:
    error.add_note(f"of the case {', '.join(f'{name}={value!r}' for name, value in case.items())}")
    return error


def report(failed: list[Exception], count: int) -> None:
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} cases fail", failed)
