"""What pydantic-ai says comes back as it was said, byte by byte."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings, strategies

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from pydantic_ai.messages import (
    BinaryContent,
    BinaryImage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    UserPromptPart,
)
from pydantic_ai_parts import DEPRECATED, contents, every_message, known_parts, request_parts, response_parts

from chatmemory import ChatMemoryService, ThreadRuntime
from chatmemory.integrations.pydantic_ai import ChatMemoryHistory
from chatmemory_layers.stacks import Stack

written = ModelMessagesTypeAdapter.dump_json
conversations = map(str, count())
TEXTS = strategies.text(strategies.characters(codec="utf-8")) | strategies.sampled_from(
    ["在老地方见。", "\0", "\x1b]0;", "a\u2028b", "👩‍👩‍👧", "</recalled-data 0>", '"\\'],
)


@pytest.fixture(scope="module")
def runtime(every_shared_stack: Stack) -> Iterator[ThreadRuntime[ChatMemoryService]]:
    with ThreadRuntime(every_shared_stack) as runtime:
        yield runtime


def test_every_part_that_there_is_is_tried() -> None:
    tried = [*contents("", b""), *request_parts("", b""), *response_parts("", b"")]
    assert known_parts() - DEPRECATED <= {type(part).__name__ for part in tried}


@settings(max_examples=15)
@given(text=TEXTS, file=strategies.binary(max_size=50))
def test_every_part_comes_back_byte_by_byte(
    runtime: ThreadRuntime[ChatMemoryService], text: str, file: bytes
) -> None:
    history = ChatMemoryHistory(next(conversations), runtime)
    messages = every_message(text, file)
    as_given = written(messages)
    assert len(history.append_sync(messages).stored) == len(messages)
    assert written(history.load_sync()) == as_given


def test_every_part_comes_back_equal(runtime: ThreadRuntime[ChatMemoryService]) -> None:
    history = ChatMemoryHistory("equal", runtime)
    messages = every_message("龙井茶 \0", b"%PDF")
    history.append_sync(messages)
    assert history.load_sync() == messages


def test_a_file_with_an_image_comes_back_as_an_image_with_the_same_bytes(
    runtime: ThreadRuntime[ChatMemoryService],
) -> None:
    """pydantic-ai narrows its type on loading; that is the one part which comes back as another class."""
    history = ChatMemoryHistory("image", runtime)
    given = ModelRequest([UserPromptPart([BinaryContent(b"\x89PNG", media_type="image/png")])])
    history.append_sync([given])
    (loaded,) = history.load_sync()
    assert written([loaded]) == written([given])
    (content,) = loaded.parts[0].content
    assert (type(content), content.data) == (BinaryImage, b"\x89PNG")


def test_a_file_that_is_longer_than_a_text_may_be_comes_back(
    runtime: ThreadRuntime[ChatMemoryService],
) -> None:
    history = ChatMemoryHistory("long", runtime)
    given = ModelRequest([UserPromptPart([BinaryContent(bytes(13 * 2**20), media_type="application/zip")])])
    history.append_sync([given])
    assert written(history.load_sync()) == written([given])
