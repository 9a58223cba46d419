"""What a recall costs as a whole process: ``python benchmarks/cold_recall.py [--folder FOLDER]``.

Histories are written and indexed by the command itself; then ``hyperfine`` (a Debian package) times whole processes, all
in turns, so that a busy machine slows them alike.  The bars are ratios to ``python -c "import numpy"``, which is what
the quickest search that uses numpy costs before it has begun.  Exits with 1 when a bar is missed.

``--folder`` keeps the histories and the indexes for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Final

SIZES: Final = (20_000, 100_000)
RECALL_BARS: Final = dict(zip(SIZES, (1.8, 2.5), strict=True))  # times `import numpy`
HELP_BAR_MS: Final = 80.0  # over the bare interpreter

TURNS_PER_HISTORY: Final = 200
ROUNDS: Final = 5
RUNS: Final = 7  # of each command in a round

COMMAND: Final = Path(sys.executable).with_name("pastchats-memory")
QUERIES: Final = ("build webhook retries with backoff", "数据库 被锁住 怎么办")

TOPICS: Final = [
    "webhook",
    "retry",
    "backoff",
    "queue",
    "worker",
    "timeout",
    "database",
    "sqlite",
    "locked",
    "migration",
    "index",
    "query",
    "cache",
    "invalidation",
    "token",
    "login",
    "session",
    "cookie",
    "header",
    "proxy",
    "nginx",
    "deploy",
    "container",
    "image",
    "build",
    "cargo",
    "crate",
    "lifetime",
    "borrow",
    "async",
    "await",
    "cancel",
    "thread",
    "deadlock",
    "memory",
    "leak",
    "profile",
    "benchmark",
    "latency",
    "vector",
    "embedding",
    "recall",
    "ranking",
    "search",
    "stemming",
    "parser",
    "grammar",
    "tree",
    "node",
    "edge",
    "graph",
    "schema",
    "column",
    "constraint",
    "transaction",
    "commit",
    "rollback",
    "branch",
    "merge",
    "rebase",
    "conflict",
    "review",
    "test",
    "fixture",
    "mock",
    "flaky",
    "timezone",
    "calendar",
    "unicode",
    "emoji",
    "encoding",
    "locale",
    "font",
    "layout",
    "grid",
    "flex",
    "button",
    "modal",
    "form",
    "validation",
    "upload",
    "stream",
    "chunk",
    "buffer",
    "socket",
    "broker",
    "topic",
    "partition",
    "offset",
    "consumer",
    "schedule",
    "cron",
    "backup",
    "restore",
    "snapshot",
    "replica",
    "shard",
    "quota",
]
CHINESE: Final = [
    "数据库",
    "被锁住",
    "重试",
    "超时",
    "队列",
    "迁移",
    "索引",
    "缓存",
    "登录",
    "部署",
    "容器",
    "并发",
    "死锁",
    "内存",
    "泄漏",
    "向量",
    "检索",
    "排序",
    "分词",
    "测试",
    "时区",
    "编码",
    "上传",
    "怎么办",
    "为什么",
    "请",
    "修复",
    "这个",
    "问题",
    "谢谢",
    "可以",
    "了",
    "我们",
    "需要",
    "先",
    "再",
    "然后",
]
PLAIN: Final = [
    "the",
    "a",
    "to",
    "of",
    "and",
    "in",
    "we",
    "it",
    "is",
    "that",
    "for",
    "with",
    "on",
    "this",
    "should",
    "can",
    "please",
    "when",
    "after",
    "before",
    "then",
    "so",
    "but",
    "not",
    "why",
    "how",
    "does",
    "do",
    "fix",
    "add",
    "remove",
    "change",
    "use",
    "keep",
    "look",
    "check",
    "run",
    "write",
    "read",
    "make",
    "sure",
    "still",
    "again",
    "instead",
    "because",
    "first",
    "next",
    "only",
    "also",
]


def conversations(turns: int) -> Iterator[list[tuple[str, str]]]:
    """Yield conversations with *turns* turns in all: a few topics each, some in Chinese, rare names here and there."""
    dice = random.Random(7)
    while turns > 0:
        count = min(TURNS_PER_HISTORY, turns)
        topics = dice.sample(TOPICS, 6)
        common = CHINESE if dice.random() < 0.2 else PLAIN
        yield [
            (
                "user" if place % 2 == 0 else "assistant",
                " ".join(
                    dice.choice(topics)
                    if dice.random() < 0.2
                    else f"{dice.choice(TOPICS)}_{dice.randrange(2000)}"
                    if dice.random() < 0.05
                    else dice.choice(common)
                    for _ in range(dice.randrange(8, 90))
                ),
            )
            for place in range(count)
        ]
        turns -= count


def write_histories(folder: Path, turns: int) -> None:
    """Write *turns* turns as Claude Code would."""
    for number, conversation in enumerate(conversations(turns)):
        start = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        session = f"{number:08x}-0000-4000-8000-000000000000"
        project = folder / f"-work-project{number % 20}"
        project.mkdir(parents=True, exist_ok=True)
        lines: list[str] = []
        before: str | None = None
        for place, (role, text) in enumerate(conversation):
            uuid = f"{number:08x}-0000-4000-9000-{place:012x}"
            content = text if role == "user" else [{"type": "text", "text": text}]
            record = {
                "parentUuid": before,
                "isSidechain": False,
                "cwd": f"/home/mei/project{number % 20}",
                "sessionId": session,
                "version": "2.0.14",
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": uuid,
                "timestamp": (start + timedelta(seconds=20 * place)).isoformat().replace("+00:00", "Z"),
            }
            if role == "assistant":
                record["message"] = {"id": f"msg_{uuid}", "model": "model", "role": role, "content": content}
            lines.append(json.dumps(record, ensure_ascii=False))
            before = uuid
        (project / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def index_of(folder: Path, turns: int) -> Path:
    """Return an index of *turns* turns, made unless it is there."""
    index = folder / f"{turns}.db"
    if not index.exists():
        histories = folder / f"histories-{turns}"
        write_histories(histories, turns)
        making = index.with_suffix(".making")
        asked = [str(COMMAND), "index", "--db", str(making), "--input", str(histories)]
        subprocess.run(asked, check=True, env=environment())
        making.rename(index)
    return index


def environment(bytecode: str = "") -> dict[str, str]:
    """Return an environment that says nothing about settings, and keeps bytecode in a folder, as installing would."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CHATMEMORY_", "PASTCHATS_"))
    }
    if bytecode:
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        kept["PYTHONPYCACHEPREFIX"] = bytecode
    return kept


def times_ms(commands: dict[str, list[str]]) -> dict[str, float]:
    """Return the median of each command's wall time, over rounds in which all of them take turns."""
    measured: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "times.json"
        asked = ["hyperfine", "-N", "--warmup", "2", "--runs", str(RUNS), "--export-json", str(answer)]
        asked += [shlex.join(command) for command in commands.values()]
        for _ in range(ROUNDS):
            subprocess.run(asked, check=True, env=environment(bytecode=folder), capture_output=True)
            results = json.loads(answer.read_text(encoding="utf-8"))["results"]
            for name, result in zip(commands, results, strict=True):
                measured[name] += result["times"]
    return {name: median(times) * 1e3 for name, times in measured.items()}


def main() -> int:
    """Measure, print, and tell whether every bar was met."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--folder", type=Path, help="where histories and indexes are kept")
    folder: Path | None = arguments.parse_args().folder
    if shutil.which("hyperfine") is None:
        print("hyperfine is needed to time whole processes: apt-get install hyperfine", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        kept = folder or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import numpy": [sys.executable, "-c", "import numpy"],
            "--help": [str(COMMAND), "--help"],
        }
        bars: dict[str, float] = {}
        for turns in SIZES:
            index = index_of(kept, turns)
            for language, query in zip(("English", "Chinese"), QUERIES, strict=True):
                name = f"recall of {turns:,}, {language}"
                commands[name] = [str(COMMAND), "recall", "--db", str(index), "--query", query]
                bars[name] = RECALL_BARS[turns]
        times = times_ms(commands)
    bare, numpy = islice(times.values(), 2)
    is_met = True
    for name, milliseconds in times.items():
        verdict = f"{milliseconds / numpy:.2f} x import numpy"
        if name in bars:
            met = milliseconds <= bars[name] * numpy
            verdict += f"  {'ok' if met else 'MISSED'} <= {bars[name]}"
        elif name == "--help":
            met = milliseconds - bare <= HELP_BAR_MS
            verdict += f", {milliseconds - bare:.1f} ms over the bare interpreter  {'ok' if met else 'MISSED'} <= {HELP_BAR_MS:.0f}"
        else:
            met = True
        is_met = is_met and met
        print(f"{name:<28}{milliseconds:>8.1f} ms  {verdict}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
