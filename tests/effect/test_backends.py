"""Each test runs on the event loop that it is named after."""

import pytest
import sniffio

pytestmark = pytest.mark.anyio


async def test_each_test_runs_on_the_backend_that_it_is_named_after(anyio_backend: str) -> None:
    assert sniffio.current_async_library() == anyio_backend
