"""Ctrl-C is quiet from the first module of a command on."""

import subprocess
import sys

from tests.patience import PATIENCE_SECONDS

INTERRUPTED_IMPORT = """
import sys

class CtrlC:
    @staticmethod
    def find_spec(name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC)
sys.argv = [{command!r}, {task!r}, "webhooks"]
from chatmemory_layers import entry
entry.{command}()
"""


def test_ctrl_c_prints_no_traceback_while_a_command_is_loaded() -> None:
    for command, task, module in (
        ("pastchats_memory", "recall", "chatmemory_layers.main"),
        ("pastchats_memory", "recall", "chatmemory.programs.pastchats.quick_commands"),
        ("pastchats_memory", "search", "chatmemory.programs.pastchats.program"),
        ("pastchats_memory", "search", "chatmemory.programs.pastchats.find_commands"),
        ("chatmemory", "recall", "chatmemory_layers.server.main"),
        ("chatmemory", "recall", "click"),
    ):
        program = [sys.executable, "-c", INTERRUPTED_IMPORT.format(command=command, task=task, module=module)]
        ended = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (130, "", ""), (command, module)
