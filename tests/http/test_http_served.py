"""``chatmemory serve`` as a process: it answers, keeps what it has acknowledged, and ends when it is told to."""

from pathlib import Path

import httpx

from tests.http.served import served


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


def test_the_page_is_there(tmp_path: Path) -> None:
    with served(tmp_path / "agent.db") as server:
        page = httpx.get(server.url)
        assert page.headers["content-type"].startswith("text/html")
        assert "<!doctype html>" in page.text.lower()
