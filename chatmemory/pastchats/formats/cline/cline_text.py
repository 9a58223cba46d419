"""The texts that Cline, Roo Code and Kilo Code add to the messages for a model.

Requests wrap the words of a person in tags and add the state of the editor; answers of older versions call tools in
XML.
"""

import re
from collections.abc import Iterator
from typing import Final

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.reading.content_blocks import Content
from chatmemory.pastchats.formats.reading.json_values import json_object, json_objects, json_text

_STATE: Final = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_ATTACHED: Final = re.compile(
    r"<(file_content|folder_content|url_content|workspace_diagnostics|git_working_state|git_commit|terminal_output"
    r"|explicit_instructions|command_output|image_content|automatic_diagnostics)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_SAID: Final = re.compile(
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
        said = [match[2].strip() for match in _SAID.finditer(rest)]
        result = _RESULT.match(rest)
        if result is not None or is_awaited:
            content.results.append(_SAID.sub("", rest))
        elif _HARNESS.match(rest):
            content.attached.append(_SAID.sub("", rest))
        elif not said:
            said = [rest]
        content.texts.extend(said)
        # Roo names the tool in one block, and writes its result in the next one.
        is_awaited = result is not None and result.end() == len(rest)
    # A refusal with a reason is written as the result of the refused tool.
    for number, given in enumerate(content.results):
        content.texts.extend(match[2].strip() for match in _SAID.finditer(given))
        content.results[number] = _STATE.sub("", _SAID.sub("", given))


def sort_answer(content: Content) -> None:
    """Keep in the texts of *content* what a person read: no tool calls, except the text that a call tells or asks."""
    texts, content.texts = content.texts, []
    for text in texts:
        content.thinking.extend(match[1] for match in _THINKING.finditer(text))
        content.texts.append(_TOOL.sub(lambda match: _told(match, content), _THINKING.sub("", text)))


def told_by_tools(content: Json) -> Iterator[str]:
    """Yield the texts that an answer tells a person by tool calls in separate blocks."""
    for block in json_objects(content):
        argument = _TELLING.get(json_text(block.get("name")))
        if argument is not None:
            yield json_text(json_object(block.get("input")).get(argument))


def _told(tool: re.Match[str], content: Content) -> str:
    told = _TOLD.search(tool[2])
    content.called(tool[1])
    return told[2].strip() if told else ""
