from chatmemory.programs.http.app import application as application
from chatmemory_layers.server.serve_command import server_stack as server_stack
from chatmemory_layers.skills.functions import skills as skills
from chatmemory_layers.stacks.ready_made import (
    Embedders as Embedders,
    MemoryTags as MemoryTags,
    Parts as Parts,
    Repositories as Repositories,
    Skills as Skills,
    Stack as Stack,
    StackError as StackError,
    configured as configured,
    embedded as embedded,
    from_configuration as from_configuration,
    postgres as postgres,
    testing as testing,
)
