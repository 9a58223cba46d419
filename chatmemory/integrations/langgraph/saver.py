"""``ChatMemorySaver``: stores the checkpoints of LangGraph with chatmemory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from chatmemory.effect import Runner
from chatmemory.integrations.langgraph.checkpoint_operations import (
    NewCheckpoint,
    Place,
    checkpoint_at,
    checkpoints_at,
    config_of,
    newest_checkpoint,
    places,
    put_checkpoint,
    put_writes,
)
from chatmemory.integrations.langgraph.checkpoint_requests import (
    THREADS,
    Asking,
    Change,
    Line,
    Namespaces,
    Request,
    Write,
    done_together,
    is_head,
    line_of,
)
from chatmemory.integrations.langgraph.gathering import Gathering
from chatmemory.integrations.langgraph.kept_checkpoints import (
    KeptCheckpoint,
    Retention,
    kept_writes,
    packed,
    packed_text,
)
from chatmemory.integrations.langgraph.thread_changes import (
    copied,
    deleted,
    deleted_if_over,
    deleted_runs,
    pruned,
)
from chatmemory.integrations.raising import Blocking, Raising
from chatmemory.items.item_repository import ItemRepositoryTag

A = TypeVar("A")

RAISING: Final = Raising(refused=ValueError, failed=RuntimeError, closed=RuntimeError)
LIST_PAGE: Final = 20
"""The number of checkpoints in one read."""

_KEEP_ALL: Final = Retention()
_KEEP_LATEST: Final = Retention(keep_last=1)


class ChatMemorySaver(BaseCheckpointSaver[str]):
    """Checkpoints by thread, for ``builder.compile(checkpointer=ChatMemorySaver(runtime))``.

    *runtime* provides the store of chatmemory: a ``ThreadRuntime`` works with every method, in any event loop and
    without one; a ``ManagedRuntime`` works with awaited methods, in its own loop, faster.  The saver does not close
    it, and ``ChatMemoryStore`` may share it.

    A checkpoint and the new values of its channels are stored in one transaction; an unchanged value is stored once
    for all checkpoints that have it.  Deleting, copying or pruning threads is one transaction.  A cancelled call has
    happened completely or not at all.  Simultaneous calls of the tasks of one event loop run together.

    A failure of chatmemory raises ``RuntimeError`` with its text (``__cause__.error`` is the failure as a value).
    """

    def __init__(
        self,
        runtime: Runner[ItemRepositoryTag],
        *,
        serde: SerializerProtocol | None = None,
        retention: Retention = _KEEP_ALL,
    ) -> None:
        """Store the arguments; the first call opens the runtime.

        Args:
            runtime: provides the store.
            serde: writes values, checkpoints and metadata (LangGraph's ``EncryptedSerializer``, for example); None:
                LangGraph's own serializer.
            retention: which checkpoints are kept; all of them by default.
        """
        super().__init__(serde=serde)
        self.retention = retention
        self._runtime = runtime
        self._blocking = Blocking(runtime)
        self._gatherings = WeakKeyDictionary[asyncio.AbstractEventLoop, Gathering[Request, Any]]()

    # --- A checkpoint ---------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that *config* names, or else the newest of its thread; None when there is none."""
        return self._run(self._get(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Do what ``get_tuple`` does, without blocking the event loop."""
        return await self._arun(self._get(config))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and return the config that names it; *config* names the checkpoint before it."""
        return self._run(self._put(config, checkpoint, metadata, new_versions))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Do what ``put`` does, without blocking the event loop."""
        return await self._arun(self._put(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a task at a checkpoint; an earlier write of the task with the same number stays.

        The writes of a checkpoint are ordered by *task_path*.
        """
        self._run(self._write(config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Do what ``put_writes`` does, without blocking the event loop."""
        await self._arun(self._write(config, writes, task_id, task_path))

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002  asked for by LangGraph
        """Return a version after *current*; its random suffix makes it different from versions in other branches of the thread."""
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{random.getrandbits(53):016}"

    # --- Lists ----------------------------------------------------------------------------------------------------

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, newest first; they are read in pages.

        Args:
            config: the thread, optionally with the namespace or the checkpoint; None: all threads.
            filter: values that their metadata must have.
            before: only checkpoints before this one; None: from the newest one.
            limit: the largest number of checkpoints; None: no limit.
        """
        wanted = self._run(self._places(config, before))
        left = len(wanted) if limit is None else limit
        for page in _pages(wanted, left):
            for found in self._run(checkpoints_at(page, self.serde, self.retention, filter or {})):
                if left <= 0:
                    return
                left -= 1
                yield found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Do what ``list`` does, without blocking the event loop."""
        wanted = await self._arun(self._places(config, before))
        left = len(wanted) if limit is None else limit
        for page in _pages(wanted, left):
            for found in await self._arun(checkpoints_at(page, self.serde, self.retention, filter or {})):
                if left <= 0:
                    return
                left -= 1
                yield found

    # --- Whole threads --------------------------------------------------------------------------------------------

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints of a thread in one transaction."""
        self._run(_changed(partial(deleted, [str(thread_id)])))

    async def adelete_thread(self, thread_id: str) -> None:
        """Do what ``delete_thread`` does, without blocking the event loop."""
        await self._arun(_changed(partial(deleted, [str(thread_id)])))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints whose metadata has one of these values of ``run_id``, in one transaction."""
        self._run(_changed(partial(deleted_runs, run_ids)))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Do what ``delete_for_runs`` does, without blocking the event loop."""
        await self._arun(_changed(partial(deleted_runs, run_ids)))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread in one transaction; the checkpoints that the target already has stay."""
        self._run(_changed(partial(copied, str(source_thread_id), str(target_thread_id))))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Do what ``copy_thread`` does, without blocking the event loop."""
        await self._arun(_changed(partial(copied, str(source_thread_id), str(target_thread_id))))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove checkpoints of these threads in one transaction.

        Args:
            thread_ids: the threads.
            strategy: ``keep_latest`` keeps the newest one of each namespace, and the values that it needs; ``delete``
                keeps none.

        Raises:
            ValueError: the strategy is unknown.
        """
        self._run(_pruned(thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Do what ``prune`` does, without blocking the event loop."""
        await self._arun(_pruned(thread_ids, strategy))

    def sweep(self) -> int:
        """Remove the checkpoints that ``retention`` does not keep, one transaction per thread; return how many were removed."""
        return self._run(self._sweep())

    async def asweep(self) -> int:
        """Do what ``sweep`` does, without blocking the event loop."""
        return await self._arun(self._sweep())

    # --- How it is done -------------------------------------------------------------------------------------------

    def _get(self, config: RunnableConfig) -> Asking[CheckpointTuple | None]:
        line, checkpoint_id = _line(config), get_checkpoint_id(config)
        if checkpoint_id:
            return checkpoint_at((str(checkpoint_id), line), self.serde, self.retention)
        return newest_checkpoint(line, self.serde, self.retention)

    def _put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Asking[RunnableConfig]:
        line, values = _line(config), checkpoint["channel_values"]
        told = cast("Mapping[str, Any]", get_checkpoint_metadata(config, metadata))
        run_id, parent = told.get("run_id"), get_checkpoint_id(config)
        versions = checkpoint["channel_versions"]
        # A value without a version belongs only to this checkpoint.
        held = {channel: str(versions.get(channel, f"@{checkpoint['id']}")) for channel in values}
        kept = KeptCheckpoint(
            packed(
                self.serde, {name: value for name, value in checkpoint.items() if name != "channel_values"}
            ),
            packed(self.serde, told),
            None if parent is None else str(parent),
            held,
            [*(told.get("counters_since_delta_snapshot") or ())],
            None if run_id is None else str(run_id),
        )
        new = NewCheckpoint(
            line,
            checkpoint["id"],
            kept,
            {
                channel: packed_text(self.serde, values[channel])
                for channel in new_versions
                if channel in values
            },
            lambda: {channel: packed_text(self.serde, value) for channel, value in values.items()},
        )
        yield from put_checkpoint(new, self.retention)
        return cast("RunnableConfig", config_of(line, checkpoint["id"]))

    def _write(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Asking[None]:
        kept = kept_writes(self.serde, writes, task_path)
        return put_writes(_line(config), str(_asked(config)["checkpoint_id"]), task_id, kept)

    def _places(
        self, config: RunnableConfig | None, before: RunnableConfig | None
    ) -> Asking[Sequence[Place]]:
        behind = None if before is None else get_checkpoint_id(before)
        if config is None:
            return (yield from places(None, None, behind))
        found = yield from places(_line(config).thread_id, _asked(config).get("checkpoint_ns"), behind)
        checkpoint_id = get_checkpoint_id(config)
        return found if checkpoint_id is None else [place for place in found if place[0] == checkpoint_id]

    def _sweep(self) -> Asking[int]:
        removed = 0
        heads = [labels for labels in (yield Namespaces(THREADS)) if is_head(labels)]
        for thread_id in dict.fromkeys([line_of(labels).thread_id for labels in heads]):
            if self.retention.thread_ttl is not None:
                removed += yield Change(partial(deleted_if_over, thread_id, self.retention))
            if self.retention.bounds_lines:
                removed += yield Change(partial(pruned, [thread_id], self.retention))
        return removed

    def _run(self, asking: Asking[A]) -> A:
        try:
            request = next(asking)
            while True:
                (answer,) = RAISING.run_blocking(self._blocking.here(), done_together([request]))
                request = asking.send(answer)
        except StopIteration as end:
            return cast("A", end.value)

    async def _arun(self, asking: Asking[A]) -> A:
        loop = asyncio.get_running_loop()
        gathering = self._gatherings.get(loop)
        if gathering is None:
            gathering = self._gatherings[loop] = Gathering(self._answer_all, is_of_one=lambda _: False)
        try:
            request = next(asking)
            while True:
                answer = await gathering.ask(request, writes=isinstance(request, Write | Change))
                request = asking.send(answer)
        except StopIteration as end:
            return cast("A", end.value)

    async def _answer_all(self, requests: Sequence[Request]) -> Sequence[Any]:
        return await RAISING.run(self._runtime, done_together(requests))


def _asked(config: RunnableConfig) -> Mapping[str, Any]:
    return config.get("configurable", {})


def _line(config: RunnableConfig) -> Line:
    asked = _asked(config)
    if (thread_id := asked.get("thread_id")) is None:
        msg = "a checkpoint belongs to a thread: give {'configurable': {'thread_id': ...}}"
        raise ValueError(msg)
    return Line(str(thread_id), asked.get("checkpoint_ns") or "")


def _pages(wanted: Sequence[Place], most: int) -> Iterator[Sequence[Place]]:
    size = max(1, min(LIST_PAGE, most))
    return (wanted[start : start + size] for start in range(0, len(wanted), size))


def _changed(steps: partial[Any]) -> Asking[int]:
    removed: int = yield Change(lambda _: steps())
    return removed


def _pruned(thread_ids: Sequence[str], strategy: str) -> Asking[int]:
    threads = [str(thread_id) for thread_id in thread_ids]
    if strategy == "delete":
        return (yield from _changed(partial(deleted, threads)))
    if strategy != "keep_latest":
        msg = f"a thread is pruned by keep_latest or delete, not by {strategy!r}"
        raise ValueError(msg)
    removed: int = yield Change(partial(pruned, threads, _KEEP_LATEST))
    return removed
