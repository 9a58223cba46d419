"""A clock for tests of what waits for a real server: its own pauses take no time."""

from datetime import UTC, datetime

import anyio
from attrs import Factory, define

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@define
class PassingClock:
    """Stands at ``NOW``; a pause takes no time and is noted.  What limits a request takes the time that it says."""

    timeout_seconds: float = 20.0
    pauses: list[float] = Factory(list)

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return sum(self.pauses)

    async def sleep(self, seconds: float) -> None:
        if seconds == self.timeout_seconds:
            await anyio.sleep(seconds)
        else:
            self.pauses.append(seconds)
