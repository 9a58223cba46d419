"""``SideBySide``: runs any sequence of operations on a repository under test and on its simple model.

``EquivalenceLaw``: hypothesis generates the sequences, and shrinks one that fails.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.laws.kit.law import Host, RepositoryUnderTest, expect, new_space
from chatmemory.laws.kit.samples import START

W = TypeVar("W")

REOPEN: Final = "L5 reopen: closing and opening changes nothing that can be read"


class SideBySide(RuleBasedStateMachine, Generic[W]):
    """The base class of all machines: a repository, a prefix of names, a clock, and the reopening of the repository.

    Attributes:
        model: the model; its operations have the names and the arguments of the repository's.
        space: the prefix of all names that the machine uses, because the repository may hold other data.

    Args:
        host: hosts the repository, which may be used before and afterwards.
        is_durable: whether the repository may be closed and opened in between.
    """

    model: Any

    def __init__(self, host: Host[W], *, is_durable: bool) -> None:
        super().__init__()
        self.host = host
        self.is_durable = is_durable
        self.space = new_space()
        self.minutes = 0

    @precondition(lambda self: self.is_durable)
    @rule()
    def reopen(self) -> None:
        """Close the repository and open it again."""
        self.host.reopen()
        self._agree(REOPEN)

    def _same(self, law: str, operation: str, *args: Any, **named: Any) -> Any:
        """Perform *operation* on the model and on the repository; a different answer breaks *law*.  Return the outcome of the model."""
        made = getattr(self.model, operation)(*args, **named)
        predicted: Any = made if type(made) in {Success, Failure} else Success(made)

        async def answer(witness: Any) -> Outcome[Any, Any]:
            outcome: Outcome[Any, Any] = await witness.ask(
                getattr(witness.repository, operation)(*args, **named)
            )
            return outcome

        answered = self.host.ask(answer)
        expect(answered.map(self._plain), predicted.map(self._plain), f"the answer of {operation}", law=law)
        return predicted

    def _plain(self, answer: Any) -> Any:
        """Return *answer* in a form that can be compared."""
        return answer

    def _agree(self, law: str) -> None:
        """Compare all that can be read with the model; a difference breaks *law*."""
        raise NotImplementedError

    def _now(self) -> datetime:
        return START + timedelta(minutes=self.minutes)

    def _later(self) -> datetime:
        """Move the clock forward by a minute, and return the time."""
        self.minutes += 1
        return self._now()


class EquivalenceLaw(RepositoryUnderTest[Any]):
    """Any sequence of operations has the same results as on the model.

    Attributes:
        machine: the machine that runs the operations.
    """

    machine: type[SideBySide[Any]]

    def test_l21_equivalence(self) -> None:
        """L21 equivalence: any sequence of operations has the results of the plain model, on every backend, errors included."""
        with Host(self.open, event_loop=self.event_loop) as host:
            run_state_machine_as_test(
                partial(self.machine, host, is_durable=self.is_durable),  # type: ignore[arg-type]  # any factory does, though hypothesis names a class
                settings=settings(
                    max_examples=self.examples,
                    stateful_step_count=self.steps,
                    # The same sequences in every run, and no deadline that could fail on a slow machine.
                    derandomize=True,
                    database=None,
                    deadline=None,
                    suppress_health_check=[HealthCheck.too_slow],
                    phases=[Phase.generate, Phase.shrink] if self.shrinks else [Phase.generate],
                ),
            )
