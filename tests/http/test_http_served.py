"""``chatmemory serve`` as a process: it answers, keeps what it has acknowledged, and ends when it is told to."""

import signal
import socket
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import httpx

from tests.http.served import CHATMEMORY, served
from tests.patience import PATIENCE_SECONDS


def test_what_one_server_has_stored_the_next_one_answers(tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    with served(store) as server:
        said = {"messages": [{"role": "user", "content": "我们每周四发布"}]}
        stored = httpx.post(f"{server.url}conversations/monday%2F1/messages", json=said)
        assert stored.status_code == 201
    assert server.process.returncode == 0
    with served(store) as server:
        (message,) = httpx.get(f"{server.url}conversations/monday%2F1/messages").json()["messages"]
        assert (message["id"], message["content"]) == (stored.json()["stored"][0], "我们每周四发布")


def test_an_index_that_was_named_and_is_not_there_is_missed_aloud(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.db"
    with served(tmp_path / "agent.db", "--past-chats", missing) as server:
        assert f"there is no {missing} yet" in server.logged()


def test_the_page_is_there(tmp_path: Path) -> None:
    with served(tmp_path / "agent.db") as server:
        page = httpx.get(server.url)
        assert page.headers["content-type"].startswith("text/html")
        assert "<!doctype html>" in page.text.lower()


def test_ctrl_c_is_quiet_while_the_server_waits_for_its_store(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with closing(sqlite3.connect(tmp_path / "agent.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        command = [CHATMEMORY, "serve", "--store", tmp_path / "agent.db", "--port", str(port)]
        # A process that is started where Ctrl-C is not heard would not hear it either.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        signal.signal(signal.SIGINT, before)
        with process:
            while not (_is_listening(port) and _has_open(process, tmp_path / "agent.db")):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE_SECONDS) == (b"", b"")
            assert process.returncode == 130


def _has_open(process: subprocess.Popen[bytes], path: Path) -> bool:
    """Tell whether the process has opened the file, as far as the system tells; then it has loaded everything, too.

    An import can swallow Ctrl-C: Python ignores what is raised while it drops a weak reference to a module's lock.
    """
    files = Path(f"/proc/{process.pid}/fd")
    if not files.exists():
        return True
    for file in files.iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if file.resolve() == path.resolve():
                return True
    return False


def _is_listening(port: int) -> bool:
    with closing(socket.socket()) as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
