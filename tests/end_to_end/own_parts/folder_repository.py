"""A backend of one's own: a folder with one file of whole conversations, which every change replaces."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from chatmemory import Effect, Layer, MessageRepositoryTag
from chatmemory.conversation.conversations import Conversations
from chatmemory.effect import Outcome
from chatmemory.errors import RepositoryError

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")


class FolderRepository:
    """What a method answers, and what a change leaves, ``Conversations`` says; here it only gets onto the disk."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "conversations"
        self.kept = self.stored()

    def stored(self) -> Conversations:
        return pickle.loads(self.path.read_bytes()) if self.path.exists() else Conversations()

    def write(self, operation: str, work: Callable[[Conversations], A]) -> Effect[A, RepositoryError]:
        """Let *work* change the conversations, and replace the file, whole or not at all."""

        def attempt() -> A:
            answer = work(self.kept)
            beside = self.path.with_suffix(".new")
            try:
                with beside.open("wb") as file:
                    file.write(pickle.dumps(self.kept))
                    file.flush()
                    os.fsync(file.fileno())  # an answer promises that it outlives a loss of power
                beside.replace(self.path)
            except OSError:
                self.kept = self.stored()  # as if nobody had asked
                raise
            return answer

        return Effect.attempt_sync(
            attempt,
            OSError,
            to=lambda error: RepositoryError(operation, "unavailable", str(error), cause=error),
        )


def reads(
    method: Callable[Concatenate[Conversations, P], A],
) -> Callable[Concatenate[FolderRepository, P], Effect[A, RepositoryError]]:
    """Make a method of the repository from one that reads."""

    def make(self: FolderRepository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, RepositoryError]:
        return Effect.sync(lambda: method(self.kept, *args, **kwargs))

    return make


def writes(
    operation: str, method: Callable[Concatenate[Conversations, P], A]
) -> Callable[Concatenate[FolderRepository, P], Effect[A, RepositoryError]]:
    """Make a method of the repository from one that changes something."""

    def make(self: FolderRepository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, RepositoryError]:
        return self.write(operation, lambda kept: method(kept, *args, **kwargs))

    return make


def refusing(
    operation: str, method: Callable[Concatenate[Conversations, P], Outcome[A, E]]
) -> Callable[Concatenate[FolderRepository, P], Effect[A, E | RepositoryError]]:
    """Make a method of the repository from one that changes something, or refuses to."""

    def make(self: FolderRepository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, E | RepositoryError]:
        answered = self.write(operation, lambda kept: method(kept, *args, **kwargs))
        return answered.bind(Effect.from_result)

    return make


class Messages(FolderRepository):
    """The methods of ``MessageRepository``."""

    append = refusing("append", Conversations.append)
    page = reads(Conversations.page)
    fork = refusing("fork", Conversations.fork)
    clear = refusing("clear", Conversations.clear)
    remove_newest = refusing("remove the newest message", Conversations.remove_newest)
    replace = refusing("replace the newest messages", Conversations.replace)
    undo = refusing("undo", Conversations.undo)
    conversation = reads(Conversations.conversation)
    owner = reads(Conversations.owner)
    conversations = reads(Conversations.conversations)
    summarize = refusing("summarize", Conversations.summarize)
    summarization = reads(Conversations.summarization)
    summarizations_of = reads(Conversations.summarizations_of)
    claim_work = writes("claim work", Conversations.claim_work)
    settle_work = writes("settle work", Conversations.settle_work)


def in_folder(folder: Path) -> Layer[MessageRepositoryTag]:
    return Layer.sync(MessageRepositoryTag, lambda: Messages(folder))
