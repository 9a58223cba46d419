"""``read_suite``: recognizes a suite by its shape, and reads the JSON that its authors publish; nothing is downloaded.

The public suites are LoCoMo (``locomo10.json``), REALTALK (``Chat_*.json``), LongMemEval (``longmemeval_s.json``), BEAM
(numbered folders with ``chat.json`` and ``probing_questions.json``) and MemDaily (lists with ``message_list`` and
``question_list``).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from attrs import evolve

from chatmemory.programs.bench.own_questions import (
    BenchConversation,
    BenchQuestion,
    BenchTurn,
    NoSuiteError,
    Suite,
    own,
)

Asked: TypeAlias = tuple[str, str, Iterable[str]]
"""The id of a question, its text, and the ids of the turns that answer it."""

_SESSION: Final = re.compile(r"session_(\d+)")
_DIALOG_ID: Final = re.compile(r"D:?(\d+):0*(\d+)")
_WEEKDAY: Final = re.compile(r" \(\w+\)")
_PLAN: Final = re.compile(r"\s*->->.*$", re.DOTALL)  # what BEAM appends to a user's turn for its own use


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
        raise NoSuiteError(
            f"{path}: a folder holds the files of one suite, REALTALK, MemDaily or BEAM, not {found}"
        )
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
    raise NoSuiteError(
        f"{path}: none of LoCoMo, LongMemEval, BEAM, REALTALK, MemDaily, nor a .jsonl of your own"
    )


@contextmanager
def _refusing_damage(path: Path) -> Generator[None]:
    """Turn what a reader raises about the shape of its data into a ``NoSuiteError`` that names *path*."""
    try:
        yield
    except (ValueError, SyntaxError, LookupError, TypeError, AttributeError) as problem:
        raise NoSuiteError(f"{path}: damaged, or no suite ({type(problem).__name__}: {problem})") from None


def _suite(name: str, files: Sequence[Path], conversations: Sequence[BenchConversation]) -> Suite:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    suite = Suite(name, digest.hexdigest(), tuple(conversations))
    if not suite.questions:
        raise NoSuiteError(f"{name}: no question has an answer among the turns")
    return suite


def locomo(value: Sequence[Mapping[str, Any]]) -> Iterator[BenchConversation]:
    """Yield the conversations of LoCoMo; ``evidence`` names the turns that answer."""
    for sample in value:
        held: Mapping[str, Any] = sample["conversation"]
        turns = [
            _turn(said, number, _instant(held.get(f"session_{number}_date_time"), "%I:%M %p on %d %B, %Y"))
            for number in _sessions(held)
            for said in held[f"session_{number}"]
        ]
        yield _conversation(str(sample["sample_id"]), turns, _asked(sample))


def realtalk(value: Mapping[str, Any], name: str) -> Iterator[BenchConversation]:
    """Yield the only conversation of a file of REALTALK."""
    turns = [
        _turn(said, number, _instant(said.get("date_time"), "%d.%m.%Y, %H:%M:%S"))
        for number in _sessions(value)
        for said in value[f"session_{number}"]
    ]
    yield _conversation(name, turns, _asked(value))


def longmemeval(value: Sequence[Mapping[str, Any]]) -> Iterator[BenchConversation]:
    """Yield a conversation for each question of LongMemEval.

    All turns of a session that answers are answers, unless the suite marks some of its turns.
    """
    for item in value:
        turns: list[BenchTurn] = []
        members: dict[str, list[str]] = {}
        marked: dict[str, list[str]] = {}
        sittings = zip(
            item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"], strict=True
        )
        for place, (session, date, messages) in enumerate(sittings):
            at = _instant(_WEEKDAY.sub("", date), "%Y/%m/%d %H:%M")
            for number, message in enumerate(messages):
                turn = f"{place}.{session}#{number}"  # a session may come twice
                turns.append(
                    BenchTurn(
                        id=turn, session=session, text=message["content"], speaker=message["role"], at=at
                    )
                )
                members.setdefault(session, []).append(turn)
                if message.get("has_answer"):
                    marked.setdefault(session, []).append(turn)
        answers = [
            turn
            for session in item["answer_session_ids"]
            for turn in marked.get(session) or members.get(session, [])
        ]
        name = str(item["question_id"])
        yield _conversation(name, turns, [(name, item["question"], answers)])


def beam(folder: Path) -> Iterator[BenchConversation]:
    """Yield the chats of BEAM, one for each numbered folder; ``source_chat_ids`` names the turns that answer."""
    for chat in sorted(
        (one for one in folder.iterdir() if one.name.isdigit()), key=lambda one: int(one.name)
    ):
        file = chat / "chat_trunecated.json"  # so spelled
        file = file if file.exists() else chat / "chat.json"
        turns: list[BenchTurn] = []
        at: datetime | None = None
        for batch in json.loads(file.read_text(encoding="utf-8")):
            for message in (message for group in batch["turns"] for message in group):
                at = _instant(str(message.get("time_anchor") or "").strip(), "%B-%d-%Y") or at
                is_user = message["role"] == "user"
                turns.append(
                    BenchTurn(
                        id=str(message["id"]),
                        session=str(batch["batch_number"]),
                        text=_PLAN.sub("", message["content"]) if is_user else message["content"],
                        speaker=message["role"],
                        at=at,
                    )
                )
        asked = [
            (f"{chat.name}/{kind}/{number}", one["question"], map(str, _numbers(one.get("source_chat_ids"))))
            for kind, questions in _probing(chat / "probing_questions.json").items()
            for number, one in enumerate(questions)
        ]
        yield _conversation(chat.name, turns, asked)


def memdaily(value: Sequence[Mapping[str, Any]], name: str) -> Iterator[BenchConversation]:
    """Yield the trajectories of a file of MemDaily; ``target_step_id`` names the messages that answer."""
    for told in value:
        conversation = f"{name}/{told['tid']}"
        turns = [
            BenchTurn(
                id=str(said["mid"]),
                session="1",
                text=said["message"],
                speaker="user",
                at=_moment(said["time"]),
            )
            for said in told["message_list"]
        ]
        asked = [
            (f"{conversation}/{one['qid']}", one["question"], map(str, one["target_step_id"]))
            for one in told["question_list"]
        ]
        yield _conversation(conversation, turns, asked)


def _turn(said: Mapping[str, Any], session: int, at: datetime | None) -> BenchTurn:
    caption = said.get("blip_caption") or ""
    shown = " ".join(cast("list[str]", caption)) if isinstance(caption, list) else caption
    text = said.get("text") or said.get("clean_text") or ""
    text = f"{text} [shares {shown}]".strip() if shown else text
    return BenchTurn(id=said["dia_id"], session=str(session), text=text, speaker=said["speaker"], at=at)


def _sessions(held: Mapping[str, Any]) -> list[int]:
    found = [
        found
        for name, value in held.items()
        if (found := _SESSION.fullmatch(name)) and isinstance(value, list)
    ]
    return sorted(int(one[1]) for one in found)


def _asked(held: Mapping[str, Any]) -> Iterator[Asked]:
    for number, one in enumerate(held.get("qa", [])):
        # A few ids are written D:8:6, or several in one text.
        named = [f"D{a}:{b}" for a, b in _DIALOG_ID.findall(str(one.get("evidence", "")))]
        yield str(number), one["question"], named


def _conversation(name: str, turns: Sequence[BenchTurn], asked: Iterable[Asked]) -> BenchConversation:
    """Return the conversation with the turns that have a text, and the questions that one of these turns answers."""
    spoken = tuple(turn for turn in turns if turn.text.strip())
    known = {turn.id for turn in spoken}
    questions = [
        BenchQuestion(
            id=number if number.startswith(name) else f"{name}/{number}",
            text=text,
            answers=frozenset(known.intersection(answers)),
        )
        for number, text, answers in asked
    ]
    return BenchConversation(name, spoken, tuple(question for question in questions if question.answers))


def _instant(written: object, shape: str) -> datetime | None:
    try:
        return datetime.strptime(str(written), shape).replace(tzinfo=UTC)
    except ValueError:
        return None


def _moment(written: str) -> datetime | None:
    numbers = [int(number) for number in re.findall(r"\d+", written)[:5]]
    try:
        return datetime(*numbers, tzinfo=UTC) if len(numbers) == 5 else None  # type: ignore[arg-type,misc]  # noqa: PLR2004  five numbers
    except ValueError:
        return None


def _probing(file: Path) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    raw = file.read_text(encoding="utf-8")
    try:
        held: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(raw)
    except ValueError:  # some are written as Python
        held = ast.literal_eval(raw)
    return held


def _numbers(value: object) -> set[int]:
    if isinstance(value, Mapping):
        return _numbers(list(cast("Mapping[str, object]", value).values()))
    if isinstance(value, list):
        return {number for one in cast("list[object]", value) for number in _numbers(one)}
    return {value} if isinstance(value, int) else set()
