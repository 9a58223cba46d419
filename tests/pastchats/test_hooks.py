"""What coding agents tell their hooks, and what is done about it."""

import json

from chatmemory.effect import Effect
from chatmemory.errors import PastChatsError
from chatmemory.pastchats.finding.prompt_hits import Exchange, PastRecall
from chatmemory.pastchats.finding.recall_block import END
from chatmemory.programs.pastchats.hooks import NoHook, PromptHook, StopHook, injected, prompt_hook, stop_hook
from tests.for_each import for_each
from tests.pastchats.test_exchanges import hit, prompt

PROMPT = "Add retries with backoff to the webhook sender"


def payload(**values: object) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode()


@for_each(
    ("read", "event", "running"),
    [
        ({"session_id": "s1", "transcript_path": "/p/s1.jsonl"}, "UserPromptSubmit", ("s1", "/p/s1.jsonl")),
        ({"session_id": "s1", "hook_event_name": "BeforeAgent"}, "BeforeAgent", ("s1",)),
        ({"conversation_id": "c1", "hook_event_name": "beforeSubmitPrompt"}, "beforeSubmitPrompt", ("c1",)),
        ({"hook_event_name": "x\ny"}, "UserPromptSubmit", ()),
        ({}, "UserPromptSubmit", ()),
    ],
)
def test_a_prompt_is_read_as_agents_say(read: dict[str, str], event: str, running: tuple[str, ...]) -> None:
    assert prompt_hook(payload(prompt=PROMPT, **read)) == PromptHook(PROMPT, event, running)


def test_a_task_is_worth_a_recall_and_a_turn_that_is_over_is_found_by_its_transcript() -> None:
    for text in ("给 webhook 发送加上指数退避重试", "为什么数据库总是被锁住", PROMPT):
        assert isinstance(prompt_hook(payload(prompt=text)), PromptHook), text
    noted = f"<ide_opened_file>a.py</ide_opened_file>\n{PROMPT}\n<system-reminder>Monday</system-reminder>"
    assert prompt_hook(payload(prompt=noted)) == PromptHook(PROMPT)
    continued = (
        "This session is being continued from a previous conversation that ran out of context: webhooks"
    )
    told = "<task-notification>the build of the webhook sender has ended</task-notification>\nRead its output now"
    commands = ("/compact now and then go on", "!git status --short")
    for text in ("ok", "yes, go ahead", "好的", "继续吧", continued, told, *commands):
        read = prompt_hook(payload(prompt=text))
        assert isinstance(read, NoHook), text
        assert not read.is_problem
    stopped = payload(session_id="s", transcript_path="/p/s.jsonl", stop_hook_active=True)
    assert stop_hook(stopped) == StopHook(("/p/s.jsonl",))
    codex = payload(type="agent-turn-complete", **{"thread-id": "t", "input-messages": ["x"]})
    assert stop_hook(codex) == StopHook(format="codex_cli")
    assert stop_hook(payload(conversation_id="c", transcript_path=None)) == StopHook()


@for_each(
    "read",
    [b"", b"no json", b"[]", b"3", b"{}", b"\xff\xfe", b"[" * 100_000, payload(prompt=3), payload(prompt="")],
)
def test_bad_input_is_a_problem_and_no_exception(read: bytes) -> None:
    for hook in (prompt_hook(read), stop_hook(read)):
        assert isinstance(hook, NoHook)
        assert hook.is_problem


class Recalling:
    """Past chats that find one exchange, or nothing; a token has four characters."""

    def __init__(self, text: str, *, found: str | None) -> None:
        self.text, self.found = text, found

    def recall(self, query: str, /, *, tokens: int, **asked: object) -> Effect[PastRecall, PastChatsError]:
        assert query == PROMPT
        assert asked == {"limit": 3, "without": ("s1",)}
        text = self.text if len(self.text) <= 4 * tokens else f"{self.text[: 4 * tokens - len(END)]}{END}"
        turn = prompt(0, "user", self.found or "")
        exchanges = (Exchange(hit=hit(turn), question=turn),) if self.found else ()
        size = -(-len(text) // 4)
        found = PastRecall(text=text, exchanges=exchanges, mode="hybrid", reason="", tokens=size)
        return Effect.succeed(found)


def answer(text: str, *, found: str | None = PROMPT, tokens: int = 600) -> str:
    hook = PromptHook(PROMPT, "UserPromptSubmit", ("s1",))
    return injected(Recalling(text, found=found), hook, tokens=tokens).run_sync().unwrap()


def test_what_is_recalled_goes_before_the_model_as_far_as_an_agent_takes_it_whole() -> None:
    told = {"hookEventName": "UserPromptSubmit", "additionalContext": "# Memory Recall\n记得"}
    assert json.loads(answer("# Memory Recall\n记得")) == {"hookSpecificOutput": told}
    assert answer("# Memory Recall\nNothing found", found=None) == ""
    assert answer("# Memory Recall\nDocker", found="make the docker image smaller and add a cache") == ""
    text = json.loads(answer("line\n" * 5_000, tokens=20_000))["hookSpecificOutput"]["additionalContext"]
    assert 9_000 < len(text) <= 10_000
    assert text.endswith(END)
