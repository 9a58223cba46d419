"""``read_suite``: recognize the suite in a file or folder by its shape, and leave out the questions that an audit rejects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from attrs import evolve

from chatmemory.programs.bench.corpus import BenchConversation, NoSuiteError, Suite
from chatmemory.programs.bench.own_questions import own
from chatmemory.programs.bench.public_suites import beam, locomo, longmemeval, memdaily, realtalk


def read_suite(path: Path) -> Suite:
    """Read the suite at *path*.

    Raises:
        NoSuiteError: the file or folder holds no suite that is known, or a damaged one.
        OSError: a file cannot be read.
        UnicodeDecodeError: a file is not UTF-8.
    """
    if path.is_dir():
        return _folder(path)
    name, conversations = _file(path)
    return _suite(name, [path], conversations)


def without(suite: Suite, wrong: Collection[str]) -> Suite:
    """Return *suite* without the questions whose ids are in *wrong*: an audit has found their answers to be wrong."""
    kept = [
        evolve(one, questions=tuple(asked for asked in one.questions if asked.id not in wrong))
        for one in suite.conversations
    ]
    return evolve(suite, conversations=tuple(kept))


def _folder(path: Path) -> Suite:
    if any((one / "probing_questions.json").exists() for one in path.iterdir() if one.is_dir()):
        files = sorted(file for file in path.rglob("*.json") if file.is_file())
        with _refusing_damage(path):
            conversations = list(beam(path))
        return _suite("BEAM", files, conversations)
    files = sorted(path.glob("*.json"))
    read = [_file(file) for file in files]
    names = {name for name, _ in read}
    if len(names) != 1:
        found = ", ".join(sorted(names)) or "no *.json"
        msg = f"{path}: a folder holds the files of one suite, REALTALK, MemDaily or BEAM, not {found}"
        raise NoSuiteError(msg)
    return _suite(names.pop(), files, [one for _, conversations in read for one in conversations])


def _file(path: Path) -> tuple[str, list[BenchConversation]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return "own questions", own(text.split("\n"))  # JSON may hold what str.splitlines splits at, U+2028
    with _refusing_damage(path):
        value: Any = json.loads(text)
        is_list = isinstance(cast("object", value), list)
        first = value[0] if is_list and value else value
        if "conversation" in first and "qa" in first:
            return "LoCoMo", list(locomo(value))
        if "haystack_sessions" in first:
            return "LongMemEval", list(longmemeval(value))
        if "message_list" in first:
            return "MemDaily", list(memdaily(value, path.stem))
        if "session_1" in first:
            return "REALTALK", list(realtalk(first, path.stem))
    msg = f"{path}: none of LoCoMo, LongMemEval, BEAM, REALTALK, MemDaily, nor a .jsonl of your own"
    raise NoSuiteError(msg)


@contextmanager
def _refusing_damage(path: Path) -> Generator[None]:
    """Turn what a reader raises about the shape of its data into a ``NoSuiteError`` that names *path*."""
    try:
        yield
    except (ValueError, SyntaxError, LookupError, TypeError, AttributeError) as problem:
        msg = f"{path}: damaged, or no suite ({type(problem).__name__}: {problem})"
        raise NoSuiteError(msg) from None


def _suite(name: str, files: Sequence[Path], conversations: Sequence[BenchConversation]) -> Suite:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    suite = Suite(name, digest.hexdigest(), tuple(conversations))
    if not suite.questions:
        msg = f"{name}: no question has an answer among the turns"
        raise NoSuiteError(msg)
    return suite
