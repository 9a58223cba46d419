"""The matrix of clients and operations with row-level security alone: the service believes that everybody may do everything."""

from pathlib import Path
from typing import Any

import pytest

from chatmemory import Namespace
from chatmemory.access.principal import Principal
from chatmemory.effect import Effect
from chatmemory.programs.http.operations.every_operation import OPERATIONS
from chatmemory.programs.operations.grant import Grant
from chatmemory.settings.memory_settings import MemorySettings, PostgresSettings, Settings, StoreSettings
from chatmemory_layers import stacks
from chatmemory_layers.postgres.messages import message_reads
from tests.guarded_store import guarded_store
from tests.http.test_http_matrix import EVERY_4, SECRET, TABLE, WHO, furnished

OF_THE_STORE = [
    one
    for one in OPERATIONS
    if not one.name.endswith(("past_chats", "past_conversations", "past_conversation"))
]


@pytest.fixture
def first_wall_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every client do everything with every conversation, and ask for the memories of Ada."""

    def hers(_: Grant, app: str | None) -> Effect[Namespace, Any]:
        return Effect.succeed(Namespace("ada", app or ""))

    monkeypatch.setattr(Principal, "may", lambda *_: True)
    monkeypatch.setattr(message_reads, "granted_as_json", lambda _: None)
    monkeypatch.setattr(Grant, "namespace", hers)


@pytest.mark.usefixtures("first_wall_is_down")
async def test_only_what_the_table_allows_is_seen_or_changed(tmp_path: Path) -> None:
    async with guarded_store() as store:
        guarded = PostgresSettings(dsn=store.serving, row_security=True)
        kept = MemorySettings(store=StoreSettings(backend="postgres", postgres=guarded))
        stack = stacks.configured(Settings(memory=kept), strategy=EVERY_4)
        async with furnished(stack, tmp_path) as house:
            before = await house.what_is_adas()
            assert all(SECRET in told for told in before)
            for operation in OF_THE_STORE:
                expected = dict(zip(WHO, TABLE[operation.name], strict=True))
                for who in ("bob", "rae", "nobody"):
                    answer = await house.ask(who, operation)
                    if expected[who] != "yes":
                        assert SECRET not in answer.text, (operation.name, who)
                    if expected[who] == "no":
                        assert answer.status_code >= 400, (operation.name, who)
                    elif expected[who] == "yes":
                        assert answer.status_code == operation.status, (operation.name, who)
                    assert await house.what_is_adas() == before, (operation.name, who)
