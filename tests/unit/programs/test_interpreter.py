"""The interpreter of a server: threads take turns often, and what was loaded at the start is no longer looked at."""

import gc
import sys
from collections.abc import Generator

import pytest

from chatmemory_layers.server.serving import SWITCH_SECONDS, suit_many_clients


@pytest.fixture(autouse=True)
def as_before() -> Generator[None]:
    seconds = sys.getswitchinterval()
    yield
    sys.setswitchinterval(seconds)
    gc.unfreeze()


def test_threads_take_turns_more_often_and_the_collector_looks_at_what_comes_alone() -> None:
    loaded: list[object] = []
    assert sys.getswitchinterval() > SWITCH_SECONDS
    suit_many_clients()
    assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS, abs=1e-6)
    assert gc.get_freeze_count() > 0
    newer: list[object] = []
    watched = [id(one) for one in gc.get_objects()]
    assert id(loaded) not in watched
    assert id(newer) in watched
