"""What a recall costs as a whole process: ``python benchmarks/cold_recall.py [--folder FOLDER] [--json FILE]``.

Histories are written and indexed by the command itself; then whole processes take turns, in an order drawn anew for each
round.  A figure is the least of all rounds: what else runs on the machine can only add to it.  The bars are ratios of
processor time to ``python -c "import numpy"``, which is what the quickest search that uses numpy costs before it has
begun.  Exits with 1 when a bar is missed.

``--folder`` keeps the histories and the indexes for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from attrs import frozen
from figures import duration, json_option, write

SIZES: Final = (20_000, 100_000)
RECALL_BARS: Final = dict(zip(SIZES, (1.3, 1.8), strict=True))  # times `import numpy`
HELP_BAR_MS: Final = 60.0  # over the bare interpreter

TURNS_PER_HISTORY: Final = 200
ROUNDS: Final = 25
MILLISECONDS: Final = 1e3  # of a second

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


def conversations(turns: int, *, seed: int = 7) -> Iterator[list[tuple[str, str]]]:
    """Yield conversations with *turns* turns in all: a few topics each, some in Chinese, rare names here and there."""
    dice = random.Random(seed)
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


@frozen
class Took:
    """What a process took at least, in milliseconds."""

    wall: float
    processor: float

    def least(self, other: Took) -> Took:
        return Took(min(self.wall, other.wall), min(self.processor, other.processor))


def times_of(commands: dict[str, list[str]]) -> dict[str, Took]:
    """Return what each of *commands* takes at least, over rounds in which all of them take turns."""
    took: dict[str, Took] = {}
    with tempfile.TemporaryDirectory() as folder:
        surroundings = environment(bytecode=folder)
        for command in commands.values():  # makes the bytecode
            run(command, surroundings)
        for _ in range(ROUNDS):
            for name in random.sample([*commands], len(commands)):
                one = run(commands[name], surroundings)
                took[name] = one.least(took.get(name, one))
    return {name: took[name] for name in commands}


def run(command: list[str], surroundings: dict[str, str]) -> Took:
    """Run a process, which has to succeed."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=surroundings, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall * MILLISECONDS, processor * MILLISECONDS)


def main() -> int:
    """Measure, print, and tell whether every bar was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where histories and indexes are kept")
    json_option(parser)
    arguments = parser.parse_args()
    folder: Path | None = arguments.folder
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
        times = times_of(commands)
    bare, numpy = islice(times.values(), 2)
    is_met = True
    print(f"{'at least':<28}{'wall ms':>10}{'processor ms':>14}")
    for name, took in times.items():
        factor = took.processor / numpy.processor
        verdict = f"{factor:.2f} x import numpy"
        met = True
        if name in bars:
            met = factor <= bars[name]
            verdict += f"  {'met' if met else 'MISSED'} <= {bars[name]}"
        elif name == "--help":
            more = took.processor - bare.processor
            met = more <= HELP_BAR_MS
            verdict += f", {more:.1f} ms over the bare interpreter  {'met' if met else 'MISSED'} <= {HELP_BAR_MS:.0f}"
        is_met = is_met and met
        print(f"{name:<28}{took.wall:>10.1f}{took.processor:>14.1f}  {verdict}")
    write(
        arguments.json,
        {
            f"`pastchats-memory {name}`": {
                "a whole process": duration(times[name].wall / MILLISECONDS),
                "`import numpy`": duration(numpy.wall / MILLISECONDS),
                "factor": f"{times[name].processor / numpy.processor:.2f}",
            }
            for name in ("--help", *bars)
        },
    )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
