"""What clients of the MCP server did is on record until it is too old, as what those of the HTTP API did is."""

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from chatmemory_layers.server.mcp_stack import mcp_stack
from tests.http.test_http_audit import expect_pruning


@pytest.mark.parametrize(("days", "kept"), [(90, False), (0, True)])
async def test_what_is_too_old_goes_when_a_server_starts_and_day_by_day(
    tmp_path: Path, days: int, *, kept: bool
) -> None:
    await expect_pruning(mcp_stack, tmp_path / "a.db", days, kept=kept)
