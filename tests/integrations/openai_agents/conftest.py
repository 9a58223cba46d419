"""Sessions of the OpenAI Agents SDK run on threads."""

import pytest

from chatmemory import ThreadRuntime
from chatmemory_layers.stacks import MemoryTags


@pytest.fixture
def runtime(threads: ThreadRuntime[MemoryTags]) -> ThreadRuntime[MemoryTags]:
    return threads
