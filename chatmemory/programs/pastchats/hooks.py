"""Hooks: what a coding agent runs by itself when a person submits a prompt, and when its turn is over.

The agent writes a JSON object to the command's input.  Agents differ little: Claude Code, Codex, Gemini CLI and Cursor
name the session, the prompt and the transcript alike, or nearly so.  A hook must never stop the agent: what cannot be
read is a ``NoHook``, and the command still succeeds.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from chatmemory.effect import Effect
from chatmemory.pastchats.finding.evidence import is_worth_telling
from chatmemory.pastchats.finding.prompt_terms import prompt_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chatmemory.errors import PastChatsError
    from chatmemory.input.json_value import Json
    from chatmemory.pastchats.contract import PastChats, PastChatsIndex
    from chatmemory.pastchats.finding.prompt_hits import PastRecall
    from chatmemory.pastchats.past_chats import IndexReport

PROMPT_EVENT: Final = "UserPromptSubmit"
LONGEST_PAYLOAD: Final = 16 * 1024 * 1024  # bytes: a prompt may hold a pasted log, and no more
LEAST_TERMS: Final = 3  # telling words: "yes, go ahead" is no task
LEAST_CHARACTERS: Final = 12
MOST_ENTRIES: Final = 3
MOST_CHARACTERS: Final = 10_000  # what Claude Code puts before a model whole; of more it shows the beginning

_SESSION_KEYS: Final = (
    "session_id",
    "conversation_id",
    "thread-id",
    "thread_id",
    "sessionId",
    "conversationId",
    "conversation",
)
_TRANSCRIPT_KEYS: Final = (
    "transcript_path",
    "agent_transcript_path",
    "transcriptPath",
    "rollout_path",
    "conversation_path",
)
_CODEX_TURN: Final = "agent-turn-complete"
_COMMAND: Final = r"\s*(?:/[\w:.-]+(?:\s|$)|[!#])"
_EVENT: Final = r"[A-Za-z]{1,64}"


class NoHook(NamedTuple):
    """Nothing is to be done.

    Attributes:
        is_problem: somebody should know: the hook is not set up as it should be.
    """

    reason: str
    is_problem: bool = False


class PromptHook(NamedTuple):
    """A prompt that is worth a recall.

    Attributes:
        event: what the agent calls this moment; the answer must call it the same.
        running: the session and its transcript, which the agent knows anyway.
    """

    prompt: str
    event: str = PROMPT_EVENT
    running: tuple[str, ...] = ()


class StopHook(NamedTuple):
    """A turn that is over.

    Attributes:
        transcripts: files that hold it; none: wherever the tool keeps its histories.
        format: of the tool, where the payload says it.
    """

    transcripts: tuple[str, ...] = ()
    format: str | None = None


Payload: TypeAlias = "Mapping[str, Json]"


def prompt_hook(payload: bytes) -> PromptHook | NoHook:
    """Read what an agent says when a prompt is submitted.

    >>> prompt_hook(b'{"session_id": "s1", "prompt": "add retries to the webhook sender"}')
    PromptHook(prompt='add retries to the webhook sender', event='UserPromptSubmit', running=('s1',))
    >>> prompt_hook(b'{"session_id": "s1", "prompt": "/compact"}')
    NoHook(reason='a command', is_problem=False)
    """
    read = _read(payload)
    if isinstance(read, NoHook):
        return read
    prompt = _text(read, ("prompt", "user_prompt", "message"))
    if not prompt:
        return NoHook('no "prompt" in the input of the hook', is_problem=True)
    if re.match(_COMMAND, prompt):
        return NoHook("a command")
    if len(prompt.encode(errors="replace")) < LEAST_CHARACTERS or len(prompt_terms(prompt)) < LEAST_TERMS:
        return NoHook("too short to tell what is to be done")
    event = _text(read, ("hook_event_name",))
    running = tuple(filter(None, (_text(read, _SESSION_KEYS), _text(read, _TRANSCRIPT_KEYS))))
    return PromptHook(prompt, event if re.fullmatch(_EVENT, event) else PROMPT_EVENT, running)


def stop_hook(payload: bytes) -> StopHook | NoHook:
    """Read what an agent says when its turn is over.

    >>> stop_hook(b'{"session_id": "s1", "transcript_path": "~/.claude/projects/p/s1.jsonl"}')
    StopHook(transcripts=('~/.claude/projects/p/s1.jsonl',), format=None)
    """
    read = _read(payload)
    if isinstance(read, NoHook):
        return read
    named = (read.get(key) for key in _TRANSCRIPT_KEYS)
    transcripts = tuple(path for path in named if isinstance(path, str) and path.strip() and "\0" not in path)
    if transcripts:
        return StopHook(tuple(dict.fromkeys(transcripts)))
    if read.get("type") == _CODEX_TURN:  # Codex names the thread, and not the file
        return StopHook(format="codex_cli")
    if _text(read, _SESSION_KEYS):
        return StopHook()
    return NoHook('neither "transcript_path" nor "session_id" in the input of the hook', is_problem=True)


def injected(chats: PastChats, hook: PromptHook, *, tokens: int) -> Effect[str, PastChatsError]:
    """Return what the command answers: a recall for the prompt as JSON, or nothing when nothing is about it.

    Nobody asked: what a recall tells for want of better would only be in the way.
    """
    terms = prompt_terms(hook.prompt)

    def answer(found: PastRecall) -> str:
        is_worth_it = any(is_worth_telling(exchange, terms, found.mode) for exchange in found.exchanges)
        return _answer(hook, found.text) if is_worth_it else ""

    return chats.recall(hook.prompt, limit=MOST_ENTRIES, tokens=tokens, without=hook.running).map(answer)


def captured(index: PastChatsIndex, hook: StopHook) -> Effect[IndexReport, PastChatsError]:
    """Take the turn in: index its transcript, or what the tool has written since."""
    from chatmemory.pastchats.past_chats import IndexRequest

    if hook.transcripts:
        return index.index(IndexRequest(inputs=hook.transcripts))
    return index.index(IndexRequest(format=hook.format))


def _answer(hook: PromptHook, text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        text = text[: text.rfind("\n", 0, MOST_CHARACTERS)]
    told = {"hookEventName": hook.event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)


def _read(payload: bytes) -> Payload | NoHook:
    if len(payload) > LONGEST_PAYLOAD:
        return NoHook("the input of the hook is too long", is_problem=True)
    try:
        read: object = json.loads(payload.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return NoHook("the input of the hook is no JSON", is_problem=True)
    if not isinstance(read, dict):
        return NoHook("the input of the hook is no JSON object", is_problem=True)
    return cast("Payload", read)


def _text(read: Payload, keys: tuple[str, ...]) -> str:
    texts = (read.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
