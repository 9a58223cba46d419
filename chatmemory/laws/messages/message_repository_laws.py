"""``MessageRepositoryLaws``: everything that a ``MessageRepository`` has to obey, as one class of tests."""

from chatmemory.laws.counting_laws import CountingLaws
from chatmemory.laws.kit.host import Host
from chatmemory.laws.kit.programs import run_programs
from chatmemory.laws.messages.concurrency_laws import ConcurrencyLaws
from chatmemory.laws.messages.reading_laws import ReadingLaws
from chatmemory.laws.messages.repository_machine import RepositoryMachine
from chatmemory.laws.messages.summary_laws import SummaryLaws
from chatmemory.laws.messages.work_laws import WorkLaws
from chatmemory.laws.messages.writing_laws import WritingLaws


class MessageRepositoryLaws(WritingLaws, CountingLaws, ReadingLaws, ConcurrencyLaws, SummaryLaws, WorkLaws):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    def test_l21_equivalence(self) -> None:
        """L21 equivalence: any program of operations is answered as by the plain model, on every backend, errors included."""
        with Host(self.open, event_loop=self.event_loop) as host:
            is_durable = self.is_durable

            class Machine(RepositoryMachine):
                def __init__(self) -> None:
                    super().__init__(host, is_durable=is_durable)

            run_programs(Machine, self)
