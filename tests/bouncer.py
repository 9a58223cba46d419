"""``bouncer_of``: a PgBouncer in transaction mode, where each transaction may run in another session of the server."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.patience import PATIENCE_SECONDS

PORT = 6432
SESSIONS = 3


@contextmanager
def bouncer_of(dsn: str, *, sessions: int = SESSIONS) -> Generator[str]:
    """Start a PgBouncer before the server of *dsn*, and return its address.

    Args:
        dsn: the address of a server on a socket.
        sessions: how many connections to the server its clients share; fewer than there are clients.
    """
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("no pgbouncer: apt-get install pgbouncer")
    parts = urlsplit(dsn)
    server = Path(parse_qs(parts.query)["host"][0])
    with tempfile.TemporaryDirectory(prefix="cm-pgb-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        ini = Path(folder) / "pgbouncer.ini"
        ini.write_text(
            f"[databases]\n* = host={server} user={parts.username}\n"
            f"[pgbouncer]\npool_mode = transaction\ndefault_pool_size = {sessions}\nauth_type = any\n"
            f"listen_port = {PORT}\nunix_socket_dir = {folder}\nserver_login_retry = 1\n"
        )
        user = ["-u", server.owner()] if os.geteuid() == 0 else []  # it refuses to be root
        bouncer = subprocess.Popen([program, "-q", *user, str(ini)])
        try:
            _wait_until_listening(Path(folder) / f".s.PGSQL.{PORT}", bouncer)
            yield f"postgresql://postgres@/{parts.path[1:]}?host={folder}&port={PORT}"
        finally:
            bouncer.terminate()
            bouncer.wait()


def _wait_until_listening(path: Path, bouncer: subprocess.Popen[bytes]) -> None:
    """Wait until a connection to the socket *path* succeeds: the file is there before the program listens."""
    started = time.monotonic()
    while True:
        with closing(socket.socket(socket.AF_UNIX)) as attempt, suppress(OSError):
            attempt.connect(str(path))
            return
        assert bouncer.poll() is None, "pgbouncer ended; its messages are above"
        assert time.monotonic() < started + PATIENCE_SECONDS
        time.sleep(0.02)  # between two attempts
