"""The hooks that a coding agent runs when a user submits a prompt, and when its turn is over.

The agent writes a JSON object to the command's standard input.  Claude Code, Codex, Gemini CLI and Cursor use nearly the
same names for the session, the prompt and the transcript.  A hook must never stop the agent: unreadable input becomes a
``NoHook``, and the command still succeeds.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from chatmemory.conversation.token_counter import CHARACTERS_PER_TOKEN
from chatmemory.effect import Effect
from chatmemory.pastchats.finding.evidence import is_worth_telling
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.formats.reading.envelopes import HARNESS, words_and_notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chatmemory.errors import PastChatsError
    from chatmemory.input.json_value import Json
    from chatmemory.pastchats.contract import PastChats, PastChatsIndex
    from chatmemory.pastchats.finding.prompt_hits import PastRecall
    from chatmemory.pastchats.past_chats import IndexReport

PROMPT_EVENT: Final = "UserPromptSubmit"
LONGEST_PAYLOAD: Final = 16 * 1024 * 1024  # bytes: enough for a prompt with a pasted log
LEAST_TERMS: Final = 3  # words that carry meaning: "yes, go ahead" is not a task
LEAST_CHARACTERS: Final = 12
MOST_ENTRIES: Final = 3
MOST_CHARACTERS: Final = 10_000  # Claude Code passes this to the model whole, and only the beginning of more

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
    """The hook has nothing to do.

    Attributes:
        is_problem: whether the hook is set up wrongly, so that the reason is printed.
    """

    reason: str
    is_problem: bool = False


class PromptHook(NamedTuple):
    """A prompt that is worth a recall.

    Attributes:
        event: the agent's name of the event, which the answer must repeat.
        running: the current session and its transcript, which the recall leaves out.
    """

    prompt: str
    event: str = PROMPT_EVENT
    running: tuple[str, ...] = ()


class StopHook(NamedTuple):
    """A turn that is over.

    Attributes:
        transcripts: the files that hold it; if empty, all places where the tool keeps its histories.
        format: the tool's format, if the payload names it.
    """

    transcripts: tuple[str, ...] = ()
    format: str | None = None


Payload: TypeAlias = "Mapping[str, Json]"


def prompt_hook(payload: bytes) -> PromptHook | NoHook:
    """Parse the payload of a submitted prompt.

    >>> prompt_hook(b'{"session_id": "s1", "prompt": "add retries to the webhook sender"}')
    PromptHook(prompt='add retries to the webhook sender', event='UserPromptSubmit', running=('s1',))
    >>> prompt_hook(b'{"session_id": "s1", "prompt": "/compact"}')
    NoHook(reason='a command', is_problem=False)
    """
    read = _read(payload)
    if isinstance(read, NoHook):
        return read
    given = _text(read, ("prompt", "user_prompt", "message"))
    if not given:
        return NoHook('no "prompt" in the input of the hook', is_problem=True)
    prompt, _ = words_and_notes(given)
    if HARNESS.match(prompt):
        return NoHook("no person wrote it")
    if re.match(_COMMAND, prompt):
        return NoHook("a command")
    if len(prompt.encode(errors="replace")) < LEAST_CHARACTERS or len(prompt_terms(prompt)) < LEAST_TERMS:
        return NoHook("too short to describe a task")
    event = _text(read, ("hook_event_name",))
    running = tuple(filter(None, (_text(read, _SESSION_KEYS), _text(read, _TRANSCRIPT_KEYS))))
    return PromptHook(prompt, event if re.fullmatch(_EVENT, event) else PROMPT_EVENT, running)


def stop_hook(payload: bytes) -> StopHook | NoHook:
    """Parse the payload of a finished turn.

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
    if read.get("type") == _CODEX_TURN:  # Codex names the thread but not its file
        return StopHook(format="codex_cli")
    if _text(read, _SESSION_KEYS):
        return StopHook()
    return NoHook('neither "transcript_path" nor "session_id" in the input of the hook', is_problem=True)


def injected(chats: PastChats, hook: PromptHook, *, tokens: int) -> Effect[str, PastChatsError]:
    """Return the output of the command: a recall for the prompt as JSON, or nothing without a relevant hit.

    The user did not ask for this recall, so weak hits are left out.  It has *tokens* at most, and ``MOST_CHARACTERS``.
    """
    terms = prompt_terms(hook.prompt)

    def answer(found: PastRecall) -> str:
        is_worth_it = any(is_worth_telling(exchange, terms, found.mode) for exchange in found.exchanges)
        return _answer(hook, found.text) if is_worth_it else ""

    most = min(tokens, MOST_CHARACTERS // CHARACTERS_PER_TOKEN)
    return chats.recall(hook.prompt, limit=MOST_ENTRIES, tokens=most, without=hook.running).map(answer)


def captured(index: PastChatsIndex, hook: StopHook) -> Effect[IndexReport, PastChatsError]:
    """Index the transcript of a finished turn, or all new histories of the tool if the transcript is not known."""
    from chatmemory.pastchats.past_chats import IndexRequest

    if hook.transcripts:
        return index.index(IndexRequest(inputs=hook.transcripts))
    return index.index(IndexRequest(format=hook.format))


def _answer(hook: PromptHook, text: str) -> str:
    told = {"hookEventName": hook.event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)


def _read(payload: bytes) -> Payload | NoHook:
    if len(payload) > LONGEST_PAYLOAD:
        return NoHook("the input of the hook is too long", is_problem=True)
    try:
        read: object = json.loads(payload.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return NoHook("the input of the hook is not JSON", is_problem=True)
    if not isinstance(read, dict):
        return NoHook("the input of the hook is not a JSON object", is_problem=True)
    return cast("Payload", read)


def _text(read: Payload, keys: tuple[str, ...]) -> str:
    texts = (read.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
