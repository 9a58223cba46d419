"""``ui_messages.json`` of Cline, Roo Code and Kilo Code: the messages that their window shows."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, final

from attrs import define, evolve, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.cline.cline_text import working_folder
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import DECODER
from chatmemory.pastchats.formats.reading.json_members import json_members, object_members
from chatmemory.pastchats.formats.reading.json_values import (
    EMPTY,
    first_said,
    json_object,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.prompt import TurnKind

_Meaning: TypeAlias = tuple[Role, TurnKind]

_SAID: Final[Mapping[str, _Meaning]] = {
    "task": ("user", "typed"),
    "user_feedback": ("user", "typed"),
    "text": ("assistant", "typed"),
    "completion_result": ("assistant", "typed"),
    "plan_mode_respond": ("assistant", "typed"),
    "plan_mode_response": ("assistant", "typed"),
    "followup": ("assistant", "typed"),
    "condense": ("summary", "summary"),
    "condense_context": ("summary", "summary"),
    "reasoning": ("assistant", "thinking"),
    "command_output": ("tool", "tool_result"),
    "mcp_server_response": ("tool", "tool_result"),
    "error": ("tool", "tool_result"),
    "diff_error": ("tool", "tool_result"),
    "clineignore_error": ("tool", "tool_result"),
    "rooignore_error": ("tool", "tool_result"),
    "user_feedback_diff": ("user", "harness"),
    "subtask_result": ("tool", "tool_result"),
}

_CALLS: Final = frozenset(
    {"tool", "command", "use_mcp_server", "browser_action_launch", "browser_action", "new_task"}
)

_SILENT: Final = frozenset({
    "api_req_deleted", "api_req_failed", "api_req_finished", "api_req_rate_limit_wait", "api_req_retried",
    "api_req_retry_delayed", "api_req_started", "auto_approval_max_req_reached", "browser_action_result",
    "browser_session_status", "checkpoint_created", "checkpoint_saved", "codebase_search_result",
    "command_permission_denied", "commit_changes", "condense_context_error", "conditional_rules_applied",
    "deleted_api_reqs", "error_retry", "generate_explanation", "hook_output_stream", "hook_status", "info",
    "image", "invalid_model", "load_mcp_documentation", "mcp_notification", "mcp_server_request_started",
    "mistake_limit_reached", "payment_required_prompt", "report_bug", "resume_completed_task",
    "resume_task", "shell_integration_warning", "shell_integration_warning_with_suggestion",
    "sliding_window_truncation", "subagent_usage", "summarize_task", "task_progress",
    "too_many_tools_warning", "update_todo_list", "user_edit_todos", "use_skill", "use_subagents",
    "subagent",
})  # fmt: skip
"""Messages of the window about its own work."""

_MOST_BETWEEN: Final = 8  # the most messages between a part of a text and the complete text

_ENDS_BEHIND: Final = re.compile(r"HAS_CHANGES\Z")  # a flag after the text of a completion


def display_turns(reader: HistoryReader, conversation_id: str) -> Iterator[Parsed]:
    """Yield the turns of the task whose window messages *reader* holds."""
    turns = _Display(conversation_id, _folder(reader))
    held: list[JsonObject] = []  # a message that may continue, and the messages after it
    for found in object_members(reader):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        if held and _continues(found, held[0]):
            del held[0]
        elif held and (not held[0].get("partial") or len(held) > _MOST_BETWEEN):
            yield from turns.meet(held.pop(0))
        if not (held and held[0].get("partial")):
            for message in held:
                yield from turns.meet(message)
            held.clear()
        held.append(found)
    for message in held:
        yield from turns.meet(message)
    yield from turns.end()


def _name(message: JsonObject) -> str:
    return json_text(message.get("say" if message.get("type") == "say" else "ask"))


def _continues(message: JsonObject, held: JsonObject) -> bool:
    """Return whether *message* repeats *held* with more text: then only the last one counts."""
    if _name(message) != _name(held):
        return False
    if message.get("ts") == held.get("ts"):
        return True
    begun = json_text(held.get("text")).strip()
    return bool(held.get("partial")) and json_text(message.get("text")).strip().startswith(begun)


def _folder(reader: HistoryReader) -> str:
    """Return the folder of the task, which its first request holds."""
    members = (found for found in json_members(reader, ()) if not isinstance(found, HistoryIssue))
    messages = (json_object(value) for _, value in members)
    requests = (message for message in messages if _name(message) == "api_req_started")
    return next(filter(None, (working_folder(json_text(one.get("text"))) for one in requests)), "")


@final
@define
class _Display:
    """The state of the turns so far; the last turn is held back until it is clear which tools were called after it."""

    conversation_id: str
    project: str
    is_begun: bool = False
    held: PromptTurn | None = None
    calls: list[Json] = field(factory=list[Json])
    told: str = ""

    def meet(self, message: JsonObject) -> Iterator[Parsed]:
        """Read *message*, and yield the turns that are complete after it."""
        name = _name(message)
        if name in _CALLS:
            self.calls.append(without_blanks({"name": _tool(name, message), "id": str(message.get("ts"))}))
            return
        if name not in _SAID:
            if name not in _SILENT:
                yield UnknownRecord(f"{message.get('type')} {name}")
            return
        thought = json_text(message.get("reasoning"))
        if thought.strip():
            yield from self.end()
            self.held = self._turn(message, ("assistant", "thinking"), thought)
        text = _text(name, message)
        # The first text is the task; a completion is first said, and then repeated as a question for confirmation.
        is_task = not self.is_begun and name == "text"
        if not text or (name == "completion_result" and text == self.told):
            return
        yield from self.end()
        self.is_begun = True
        self.told = text
        self.held = self._turn(message, ("user", "typed") if is_task else _SAID[name], text)

    def end(self) -> Iterator[PromptTurn]:
        """Yield the turn that is held back."""
        if self.held is not None:
            is_bearer = bool(self.calls) and self.held.role == "assistant"
            metadata = self.held.metadata
            yield (
                evolve(self.held, metadata={**metadata, "tool_calls": self.calls}) if is_bearer else self.held
            )
            self.calls = [] if is_bearer else self.calls
        self.held = None

    def _turn(self, message: JsonObject, meaning: _Meaning, text: str) -> PromptTurn:
        role, kind = meaning
        model = json_object(message.get("modelInfo"))
        return PromptTurn(
            conversation_id=self.conversation_id,
            role=role,
            content=text,
            kind=kind,
            # Two messages of the same instant differ in their names.
            native_id=f"{message.get('ts')}:{_name(message)}" + ("#thinking" if kind == "thinking" else ""),
            timestamp=instant_of(message.get("ts")),
            project=self.project,
            metadata=without_blanks(
                {
                    "cwd": self.project,
                    "model": first_said(model.get("modelId"), model.get("id")),
                    "error": text if _name(message).endswith("error") else "",
                }
            ),
        )


def _text(name: str, message: JsonObject) -> str:
    text = json_text(message.get("text")).strip()
    if name in {"followup", "plan_mode_respond", "plan_mode_response"} and text.startswith("{"):
        fields = _decoded(text)
        return first_said(fields.get("question"), fields.get("response"), text).strip()
    if name == "condense_context":
        return first_said(json_object(message.get("contextCondense")).get("summary"), text).strip()
    return _ENDS_BEHIND.sub("", text).strip()


def _tool(name: str, message: JsonObject) -> str:
    text = json_text(message.get("text"))
    fields = _decoded(text) if text.startswith("{") else EMPTY
    return first_said(fields.get("tool"), fields.get("toolName"), name)


def _decoded(text: str) -> JsonObject:
    try:
        return json_object(DECODER.decode(text))
    except (ValueError, RecursionError):
        return {}
