"""``ItemRepositoryLaws``: everything that an ``ItemRepository`` has to obey, as one class of tests."""

from chatmemory.laws.items.item_lifetime_laws import ItemLifetimeLaws
from chatmemory.laws.items.item_machine import ItemMachine
from chatmemory.laws.items.item_reading_laws import ItemReadingLaws
from chatmemory.laws.items.item_writing_laws import ItemWritingLaws
from chatmemory.laws.kit.host import Host
from chatmemory.laws.kit.programs import run_programs


class ItemRepositoryLaws(ItemWritingLaws, ItemReadingLaws, ItemLifetimeLaws):
    """Subclass it, name your layer, and run pytest; see ``chatmemory.laws``."""

    def test_l21_equivalence(self) -> None:
        """L21 equivalence: any program of operations is answered as by the plain model, on every backend."""
        with Host(self.open, event_loop=self.event_loop) as host:
            is_durable = self.is_durable

            class Machine(ItemMachine):
                def __init__(self) -> None:
                    super().__init__(host, is_durable=is_durable)

            run_programs(Machine, self)
