"""A process that is killed (kill -9) while it indexes leaves whole sources, and turns, vectors and words that agree."""

from pathlib import Path

from tests.past_turns import disagreement, open_past_chats
from tests.reliability.indexed import check_part_of_round, check_round, index_round
from tests.reliability.killed import Acknowledged, killed_at_random
from tests.thorough import rounds

KILLS = rounds(1, thorough=8)


async def test_a_killed_run_leaves_whole_sources_and_the_next_one_completes(tmp_path: Path) -> None:
    path = tmp_path / "past.db"
    acknowledged = Acknowledged()
    for kill in range(KILLS):
        writer = f"进程{kill}"
        acknowledged += killed_at_random("index_for_ever", str(path), writer, life=range(1, 8))
        assert disagreement(path) == ""
        with open_past_chats(path) as past:
            for each, rounds in acknowledged.items():
                for number in range(rounds):
                    check_round(past, each, number)
            check_part_of_round(past, writer, acknowledged[writer])
            index_round(past, writer, acknowledged[writer])
            check_round(past, writer, acknowledged[writer])
        assert disagreement(path) == ""
