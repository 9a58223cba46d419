"""Tokens: hashed, for a time, two of one name; whose token was accepted is logged, and answers to wrong ones are delayed."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

import anyio
import httpx
import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory.effect.services.clock import Clock, TestClock
from chatmemory.programs.http import access
from chatmemory.programs.http.access import WrongTokens
from chatmemory.programs.http.app import application
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory.settings.server_settings import ServerSettings, TokenSettings, token_hash
from chatmemory_layers.server.audit_pruning import SECONDS_BETWEEN
from chatmemory_layers.server.serve_command import server_stack
from tests.http_api import HERE, problem, said
from tests.passing_clock import PassingClock
from tests.patience import PATIENCE_SECONDS

TOKEN = "cm_of-the-phone"
BEFORE = "cm_of-the-phone-before"
WRONG = "cm_of-nobody"
START = datetime(2027, 1, 1, 12, tzinfo=UTC)
PHONE = TokenSettings(hash=token_hash(TOKEN), user="mei")
ROLLING = TokenSettings(
    hash=token_hash(TOKEN),
    previous_hash=token_hash(BEFORE),
    previous_expires=START + timedelta(hours=1),
    user="mei",
)
GUEST_TOKEN = "the token of a guest"
GUEST = TokenSettings(token=GUEST_TOKEN, user="mei", read_only=True)

Ask: TypeAlias = Callable[..., Any]


@asynccontextmanager
async def server_with(
    clock: Clock, settings: ServerSettings | None = None, **tokens: TokenSettings
) -> AsyncGenerator[Ask]:
    """Give a function that asks a server with *tokens*, as a client with a token at an address."""
    known = Settings(
        memory=MemorySettings(store=StoreSettings(backend="in_memory")),
        server=settings or ServerSettings(tokens=tokens),
    )
    async with ManagedRuntime(server_stack(known, clock=clock)) as runtime:
        app = application(runtime, known.server, closing=anyio.Event())

        async def asked(
            token: str,
            *,
            address: str = "192.0.2.1",
            method: str = "GET",
            path: str = "/conversations",
            body: object = None,
        ) -> httpx.Response:
            transport = httpx.ASGITransport(app, client=(address, 4711))
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=headers) as client:
                return await client.request(method, path, json=body)

        yield asked


async def test_a_token_that_has_expired_is_refused_in_words_that_say_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = TestClock(START)
    ending = TokenSettings(hash=token_hash(TOKEN), expires=date(2027, 1, 1), user="mei")
    async with server_with(clock, phone=ending) as asked:
        assert (await asked(TOKEN)).status_code == 200
        await clock.set_time(datetime(2027, 1, 2, tzinfo=UTC))
        for _ in range(3):  # and never waits: nobody guessed it
            refused = await asked(TOKEN, address="192.0.2.7")
        assert problem(refused) == "401 UnauthorizedError"
        assert "this token has expired (2027-01-01)" in refused.json()["detail"]
        assert refused.headers["www-authenticate"].endswith('error="invalid_token"')
    assert "the token of phone has expired (2027-01-01), and came from 192.0.2.7" in caplog.messages


async def test_a_token_is_replaced_without_a_moment_without_access_and_a_stream_ends_with_its_token() -> None:
    clock = TestClock(START)
    async with server_with(clock, phone=ROLLING) as asked, asyncio.timeout(PATIENCE_SECONDS):
        assert [(await asked(token)).status_code for token in (BEFORE, TOKEN)] == [200, 200]
        await asked(TOKEN, method="POST", path="/conversations/c/messages", body=said("绿茶"))
        stream = asyncio.create_task(asked(BEFORE, path="/conversations/c/events?newerThan=0"))
        await clock.advance(3599)
        assert not stream.done()
        await clock.advance(1)
        answer = await stream
        assert answer.text.count("event: message") == 1
        assert "绿茶" in answer.text
        assert [(await asked(token)).status_code for token in (BEFORE, TOKEN)] == [401, 200]


async def test_every_line_of_the_log_names_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "chatmemory.http")
    main = "the token of the server"
    settings = ServerSettings(token=main, tokens={"phone": PHONE, "一位 guest": GUEST})
    async with server_with(TestClock(), settings) as asked:
        await asked(TOKEN)
        await asked(GUEST_TOKEN, method="DELETE", path="/memories/x")
        await asked(main)
        await asked("")
        await asked(WRONG)
        await asked("", path="/health")
        await asked(TOKEN, path="/nowhere")
    async with server_with(TestClock()) as asked:  # a server without tokens
        await asked(WRONG)
    told = [re.fullmatch(r".* (\d+ by .*) [\d.]+ ms \d+ bytes", message) for message in caplog.messages]
    assert [line[1] for line in told if line] == [
        "200 by phone",
        "403 by 一位 guest",
        "200 by (server.token)",
        "401 by (nobody)",
        "401 by (nobody)",
        "200 by (nobody)",
        "404 by (nobody)",
        "200 by (everybody)",
    ]
    assert not [token for token in (TOKEN, WRONG, main, GUEST_TOKEN) if token in caplog.text]


async def test_each_wrong_token_of_an_address_waits_longer_up_to_a_bound() -> None:
    clock = PassingClock(timeout_seconds=SECONDS_BETWEEN)
    async with server_with(clock, phone=PHONE) as asked:
        for _ in range(2 * access.MOST_WAITING):
            assert (await asked(WRONG)).status_code == 401
        assert clock.pauses[:7] == pytest.approx([0.02 * 2**n for n in range(7)])
        assert clock.pauses[7:] == [2.0] * (2 * access.MOST_WAITING - 8)
        clock.pauses.clear()
        await asked(WRONG, address="192.0.2.2")
        await asked("", address="192.0.2.2")  # no token is no wrong one
        assert clock.pauses == []


async def test_a_right_token_never_waits_for_wrong_ones_of_its_address() -> None:
    clock = TestClock()
    answered: list[int] = []
    async with server_with(clock, ServerSettings(tokens={"phone": PHONE}, max_requests=1)) as asked:

        async def guess() -> None:
            answered.append((await asked(WRONG)).status_code)

        async with anyio.create_task_group() as guessing:
            for _ in range(1 + access.MOST_WAITING):
                guessing.start_soon(guess)
            await anyio.wait_all_tasks_blocked()
            assert answered == [401]  # the first, which may be a slip
            assert (await asked(TOKEN)).status_code == 200  # at its address, with one place for all
            guessing.start_soon(guess)
            await anyio.wait_all_tasks_blocked()
            assert answered == [401, 401]  # more are not held back: that would hold a connection each
            await clock.advance(access.LONGEST_SECONDS)
        assert answered == [401] * (2 + access.MOST_WAITING)


def test_wrong_tokens_are_forgotten_after_a_while_and_never_many_addresses_known() -> None:
    wrong = WrongTokens()
    assert [wrong.count("a", now) for now in (0, 1, 600, 1200)] == [1, 2, 3, 1]
    for number in range(access.MOST_ADDRESSES - 1):
        assert wrong.count(f"b{number}", 1201) == 1
    assert wrong.count("a", 1202) == 2
    assert wrong.count("c", 1203) == 1  # in the place of b0, which was quiet for longest
    assert [wrong.count(address, 1204) for address in ("a", "b1", "b0")] == [3, 2, 1]


def test_a_client_of_ipv6_is_its_network() -> None:
    wrong = WrongTokens()
    assert wrong.count("2001:db8:0:1::1", 0) == 1
    assert wrong.count("2001:db8:0:1:ffff::2", 0) == 2
    assert wrong.count("2001:db8:0:2::1", 0) == 1
    assert wrong.count("::ffff:192.0.2.1", 0) == 1  # an address of IPv4, as a socket for both shows it
    assert wrong.count("::ffff:192.0.2.2", 0) == 1
    assert wrong.count("fe80::1%eth0", 0) == 1
