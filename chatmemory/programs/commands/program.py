"""The ``chatmemory`` program: its commands, and its exit codes."""

from __future__ import annotations

from functools import partial
from typing import Final

import click

from chatmemory.programs.shell.command_group import CommandGroup, Entry, run_group

NAME: Final = "chatmemory"

EXPLANATION: Final = """\
Exit codes: 0 success (also if nothing was found), 1 doctor found an error, import could read nothing, or the output could
not be written, 2 wrong usage, 3 invalid input, 4 unknown conversation or memory, 5 the store cannot be used, 6 the
embedder failed, 7 invalid configuration, 8 refused: no access, changed meanwhile, id in use, or cannot be undone."""

_HERE: Final = __package__

COMMANDS: Final = {
    "remember": Entry(f"{_HERE}.memory_commands", "Store a fact in long-term memory."),
    "recall": Entry(f"{_HERE}.memory_commands", "Print the memories that match a question."),
    "memories": Entry(f"{_HERE}.memory_commands", "List memories, newest first."),
    "history": Entry(f"{_HERE}.memory_commands", "Print what happened to a memory."),
    "forget": Entry(f"{_HERE}.memory_commands", "Delete memories, or clear a conversation."),
    "undo": Entry(f"{_HERE}.memory_commands", "Undo a change."),
    "conversations": Entry(f"{_HERE}.conversation_commands", "List conversations."),
    "show": Entry(f"{_HERE}.conversation_commands", "Print the messages of a conversation."),
    "fork": Entry(f"{_HERE}.conversation_commands", "Create a branch of a conversation."),
    "context": Entry(f"{_HERE}.conversation_commands", "Print what a model would see."),
    "export": Entry(f"{_HERE}.archive_commands", "Write everything as JSON Lines."),
    "import": Entry(f"{_HERE}.archive_commands", "Read a file that export or another tool wrote."),
    "re-embed": Entry(f"{_HERE}.archive_commands", "Embed the memories that have no vector."),
    "doctor": Entry(f"{_HERE}.server_commands", "Check the store without changing it."),
    "bench": Entry(f"{_HERE}.bench_command", "Measure retrieval on public suites, or your own questions."),
    "serve": Entry(f"{_HERE}.server_commands", "Open the page and the HTTP API."),
    "token": Entry(f"{_HERE}.server_commands", "Make a token for a client of the server."),
    "audit": Entry(f"{_HERE}.server_commands", "Print who did what through the server."),
    "completion": Entry(f"{_HERE}.server_commands", "Print the completion script of a shell."),
}


@click.group(
    cls=CommandGroup,
    entries=COMMANDS,
    epilog=EXPLANATION,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)
@click.version_option(package_name="chatmemory-effect")
def program() -> None:
    """Conversation memory and long-term memory for agents; pastchats-memory searches the histories of other tools.

    \b
      chatmemory remember "The tests need Redis on port 6380."
      chatmemory recall "which port do the tests need?"
      chatmemory conversations
      chatmemory serve                                       the same store as a page and an HTTP API
      chatmemory COMMAND --help                              shows examples

    The settings name the store, an SQLite file or a PostgreSQL database; --store overrides them.
    """


run: Final = partial(run_group, program, NAME)
