"""``display_turns``: reads ``ui_messages.json`` of Cline, Roo Code and Kilo Code, the messages that their window shows.

``sort_request`` and ``sort_answer`` separate what a person wrote or read from the other text of messages for the model.
Requests wrap the words of a person in tags and add the state of the editor; answers of older versions call tools in XML.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, final

from attrs import define, evolve, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    Json,
    JsonObject,
    first_said,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.content_blocks import Content
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import decoded
from chatmemory.pastchats.formats.reading.json_walk import json_members, object_members
from chatmemory.pastchats.prompt import TurnKind

_STATE: Final = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_ATTACHED: Final = re.compile(
    r"<(file_content|folder_content|url_content|workspace_diagnostics|git_working_state|git_commit|terminal_output"
    r"|explicit_instructions|command_output|image_content|automatic_diagnostics)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_SAID_TEXT: Final = re.compile(
    r"<(task|feedback|answer|user_message|user_input|user_query)\b[^>]*>(.*?)(?:</\1>|\Z)", re.DOTALL
)
_RESULT: Final = re.compile(r"\s*\[\w+(?: for .*?)?\] Result:\s*", re.DOTALL)
_HARNESS: Final = re.compile(
    r"\s*(?:\[ERROR\]|\[TASK RESUMPTION\]|\[Tool use was interrupted|# (?:Reminder|task_progress|TODO LIST)"
    r"|The user has provided feedback|You did not use a tool|If you have completed)"
)

_FOLDER: Final = re.compile(
    r"# Current (?:Working|Workspace) Directory \(([^\n()]+(?:\([^\n()]*\)[^\n()]*)*)\)"
)

_TOOLS: Final = (
    "access_mcp_resource|apply_diff|apply_patch|ask_followup_question|attempt_completion|browser_action"
    "|codebase_search|condense|edit_file|execute_command|fetch_instructions|generate_image|insert_content"
    "|list_code_definition_names|list_files|load_mcp_documentation|new_rule|new_task|plan_mode_respond"
    "|plan_mode_response|read_file|replace_in_file|report_bug|run_slash_command|search_and_replace|search_files"
    "|search_replace|switch_mode|update_todo_list|use_mcp_tool|web_fetch|web_search|write_to_file"
)
_TOOL: Final = re.compile(rf"<({_TOOLS})>(.*?)(?:</\1>|\Z)", re.DOTALL)
_TOLD: Final = re.compile(r"<(result|question|response)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_TELLING: Final = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
}
_THINKING: Final = re.compile(r"<thinking>(.*?)(?:</thinking>|\Z)\s*", re.DOTALL)

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


def _name(message: JsonObject) -> str:
    return json_text(message.get("say" if message.get("type") == "say" else "ask"))


def _text(name: str, message: JsonObject) -> str:
    text = json_text(message.get("text")).strip()
    if name in {"followup", "plan_mode_respond", "plan_mode_response"} and text.startswith("{"):
        fields = json_object(decoded(text))
        return first_said(fields.get("question"), fields.get("response"), text).strip()
    if name == "condense_context":
        return first_said(json_object(message.get("contextCondense")).get("summary"), text).strip()
    return _ENDS_BEHIND.sub("", text).strip()


def _tool(name: str, message: JsonObject) -> str:
    text = json_text(message.get("text"))
    fields = json_object(decoded(text) if text.startswith("{") else None)
    return first_said(fields.get("tool"), fields.get("toolName"), name)


def working_folder(text: str) -> str:
    """Return the working folder that a request holds; "" for none."""
    found = _FOLDER.search(text)
    return found[1].strip() if found else ""


def sort_request(content: Content) -> None:
    """Keep in the texts of *content* what a person wrote, and move the rest to its attached texts and results."""
    texts, content.texts = content.texts, []
    is_awaited = False
    for text in texts:
        stated = _STATE.sub("", text)
        rest = _ATTACHED.sub("", stated)
        content.attached.extend(match[0] for match in _ATTACHED.finditer(stated))
        said = [match[2].strip() for match in _SAID_TEXT.finditer(rest)]
        result = _RESULT.match(rest)
        if result is not None or is_awaited:
            content.results.append(_SAID_TEXT.sub("", rest))
        elif _HARNESS.match(rest):
            content.attached.append(_SAID_TEXT.sub("", rest))
        elif not said:
            said = [rest]
        content.texts.extend(said)
        # Roo names the tool in one block, and writes its result in the next one.
        is_awaited = result is not None and result.end() == len(rest)
    # A refusal with a reason is written as the result of the refused tool.
    for number, given in enumerate(content.results):
        content.texts.extend(match[2].strip() for match in _SAID_TEXT.finditer(given))
        content.results[number] = _STATE.sub("", _SAID_TEXT.sub("", given))


def sort_answer(content: Content, blocks: Json) -> None:
    """Keep in the texts of *content* what a person read: no tool calls, except the text that a call tells or asks.

    A call is in the text, or one of *blocks*.
    """
    texts, content.texts = content.texts, []
    for text in texts:
        content.thinking.extend(match[1] for match in _THINKING.finditer(text))
        content.texts.append(_TOOL.sub(lambda match: _told(match, content), _THINKING.sub("", text)))
    for block in json_objects(blocks):
        argument = _TELLING.get(json_text(block.get("name")))
        if argument is not None:
            content.texts.append(json_text(json_object(block.get("input")).get(argument)))


def _told(tool: re.Match[str], content: Content) -> str:
    told = _TOLD.search(tool[2])
    content.called(tool[1])
    return told[2].strip() if told else ""
