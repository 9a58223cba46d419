"""``run_programs``: lets hypothesis write programs of operations for a state machine, alike in every run."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from chatmemory.laws.kit.under_test import UnderTest


def run_programs(machine: type[RuleBasedStateMachine], under_test: UnderTest) -> None:
    """Run as many programs, of as many steps, as *under_test* says."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=under_test.examples,
            stateful_step_count=under_test.steps,
            # The same programs in every run, and no clock that could fail a slow machine.
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            phases=[Phase.generate, Phase.shrink] if under_test.shrinks else [Phase.generate],
        ),
    )
