"""A backend of one's own: a folder with one JSON file per conversation, replaced whole with every change."""

import json
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve

from chatmemory import Conversation, Do, Effect, Layer, MessagePage, MessageRepositoryTag, Namespace
from chatmemory.access.principal import principal
from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    ConversationListing,
    Fork,
    HistoryWork,
    MessageDraft,
    PageQuery,
    Summary,
    WorkThreshold,
    latest_end,
)
from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Forked,
    ForkOrigin,
    SummarizationMetadata,
    TimestampRange,
)
from chatmemory.errors import (
    AppendError,
    ConversationNotFoundError,
    DataValidationError,
    ForkRefusal,
    MessageConflictError,
    Problem,
    RemovalError,
    RepositoryError,
    VersionConflictError,
)

T = TypeVar("T")
State = dict[str, Any]
when = datetime.fromisoformat


class FolderRepository:
    """Each method reads a file, changes it in memory and replaces it: whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        key = batch.conversation_id
        state = await do(self._io("append", lambda: self._load(key)))
        if not state["version"]:
            state["owner"] = [principal().namespace.user, principal().namespace.app]
        roles = [draft.role for draft in batch.drafts]
        if refusal := principal().refusal_to_add(roles, owner_of(state), key):
            do.fail(refusal)
        said = {row["id"]: words(row) for row in state["rows"]}
        stored: list[str] = []
        duplicates: list[str] = []
        conflicts: list[str] = []
        for draft in batch.drafts:
            row = row_of(draft, state, batch.now, seq=state["next_seq"] + len(stored))
            if draft.id not in said and draft.id not in state["covered"]:
                said[draft.id] = words(row)
                state["rows"].append(row)
                stored.append(draft.id)
            elif said.get(draft.id, words(row)) == words(row):
                duplicates.append(draft.id)
            else:
                conflicts.append(draft.id)
        if (stored or conflicts) and batch.expected_version not in {None, state["version"]}:
            do.fail(VersionConflictError(key, batch.expected_version or 0, state["version"]))
        if conflicts:
            do.fail(MessageConflictError(key, tuple(conflicts)))
        if stored:
            if len(state["rows"]) == len(stored):
                state["created_at"] = batch.now.isoformat()
            state["next_seq"] += len(stored)
            changed(state, batch.now)
            if reaches(state, batch.threshold) and state["work"] is None:
                state["work"] = {
                    "due_at": batch.now.isoformat(),
                    "attempts": 0,
                    "lease_id": None,
                    "until": None,
                }
            await do(self._io("append", lambda: self._save(state)))
        return Appended(tuple(stored), tuple(duplicates), described(state), state["work"] is not None)

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        return self._read("read a page", query.conversation_id, lambda state: page_of(state, query), None)

    @Effect.gen
    async def fork(self, do: Do[ForkRefusal | RepositoryError], fork: Fork, /) -> Forked:
        def states() -> tuple[State, State]:
            return self._load(fork.conversation_id), self._load(fork.new_id)

        parent, existing = await do(self._io("fork", states))
        if not is_seen(parent):
            do.fail(ConversationNotFoundError(fork.conversation_id))
        is_there = existing["version"] > 0
        owner = owner_of(existing) if is_there else principal().namespace
        if refusal := principal().refusal("write", owner, fork.new_id):
            do.fail(refusal)
        branch = branch_of(parent, fork)
        if is_there:
            origin = branch["origin"] if branch else None
            same = existing["origin"] == origin or (existing["origin"] and fork.at is None)
            if same and existing["rows"] and existing["origin"][0] == fork.conversation_id:
                return Forked(described(existing), is_new=False)
            do.fail(VersionConflictError(fork.new_id, expected=0, actual=existing["version"]))
        if branch is None or not branch["rows"]:
            do.fail(DataValidationError((Problem("$.at", fork_problem(parent, fork)),)))
        branch["owner"] = [owner.user, owner.app]
        await do(self._io("fork", lambda: self._save(branch)))
        return Forked(described(branch), is_new=True)

    @Effect.gen
    async def clear(self, do: Do[RemovalError], conversation_id: str, *, now: datetime) -> ClearReport | None:
        def clear() -> ClearReport | None:
            state = self._load(conversation_id)
            roles = [row["role"] for row in state["rows"]]
            if not is_seen(state):
                return None
            state |= {"rows": [], "covered": {}, "made": {}, "work": None, "origin": None}
            state["rewritten_at"] = changed(state, now)
            keep_since(state)
            self._save(state)
            return ClearReport(len(roles), roles.count("summary"), state["version"])

        await do(self._deletion("clear", conversation_id))
        return await do(self._io("clear", clear))

    @Effect.gen
    async def remove_newest(
        self,
        do: Do[RemovalError],
        conversation_id: str,
        *,
        now: datetime,
        threshold: WorkThreshold | None,
    ) -> ChatMessage | None:
        def remove() -> ChatMessage | None:
            state = self._load(conversation_id)
            removed = None
            if not is_seen(state):
                return None
            while view := [row for row in state["rows"] if row["covered_by"] is None]:
                removed = max(view, key=lambda row: row["place"])
                state["rows"].remove(removed)
                state["made"].pop(removed["id"], None)
                covered = state["covered"].items()
                state["covered"] = {id_: by for id_, by in covered if by != removed["id"]}
                back = [row for row in state["rows"] if row["covered_by"] == removed["id"]]
                for row in back:
                    row |= {"covered_by": None, "covered_at": None}
                if not back:
                    break
            if removed is None:
                return None
            state["rewritten_at"] = changed(state, now)
            keep_since(state)
            if not reaches(state, threshold):
                state["work"] = None
            self._save(state)
            return message_of(removed)

        await do(self._deletion("remove the newest message", conversation_id))
        return await do(self._io("remove the newest message", remove))

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        return self._read(
            "read a conversation", conversation_id, lambda state: self._shown(described(state)), None
        )

    def _shown(self, conversation: Conversation) -> Conversation:
        origin = conversation.forked_from
        if origin is None:
            return conversation
        parent = owner_of(self._load(origin.conversation_id))
        is_known = principal().may("read", parent, origin.conversation_id)
        return conversation if is_known else evolve(conversation, forked_from=None)

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        def listed() -> tuple[Conversation, ...]:
            states = [json.loads(path.read_text("utf-8")) for path in self.folder.glob("*.json")]
            known = [described(state) for state in states if is_seen(state)]
            return tuple(self._shown(one) for one in chosen_by(listing, known))

        return self._io("list conversations", listed)

    @Effect.gen
    async def summarize(
        self, do: Do[VersionConflictError | RepositoryError], summary: Summary
    ) -> Conversation:
        key = summary.conversation_id
        state = await do(self._io("summarize", lambda: self._load(key)))
        covered = [row for row in state["rows"] if row["id"] in summary.covers and row["covered_by"] is None]
        planned = summary.planned_at_version
        if len(covered) < len(summary.covers) or state["rewritten_at"] > planned:
            do.fail(VersionConflictError(key, expected=planned, actual=state["version"]))
        if any(row["id"] == summary.draft.id for row in state["rows"]):
            do.fail(RepositoryError("summarize", "unexpected", f"{summary.draft.id!r} is stored already"))
        for row in covered:
            row |= {"covered_by": summary.draft.id, "covered_at": state["version"] + 1}
        if summary.delete_covered:
            state["rows"] = [row for row in state["rows"] if row not in covered]
        place = max(row["place"] for row in covered)
        row = row_of(summary.draft, state, summary.now, seq=state["next_seq"])
        state["rows"].append({**row, "place": place})
        state["next_seq"] += 1
        state["covered"] |= dict.fromkeys(summary.covers, summary.draft.id)
        state["made"][summary.draft.id] = [
            summary.metadata_id,
            list(summary.covers),
            summary.starts_at.isoformat(),
            summary.ends_at.isoformat(),
            summary.skill_id,
            summary.delete_covered,
            summary.now.isoformat(),
            state["version"] + 1,
        ]
        state["rewritten_at"] = changed(state, summary.now)
        if summary.delete_covered:
            keep_since(state)
        if not reaches(state, summary.threshold):
            state["work"] = None
        await do(self._io("summarize", lambda: self._save(state)))
        return described(state)

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        def find(state: State) -> SummarizationMetadata | None:
            return made(state, summary_message_id) if summary_message_id in state["made"] else None

        return self._read("read a summarization", conversation_id, find, None)

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        def chain(state: State) -> tuple[SummarizationMetadata, ...]:
            summary_id = state["covered"].get(message_id)
            found = []
            while summary_id is not None:
                found.append(made(state, summary_id))
                summary_id = state["covered"].get(summary_id)
            return tuple(found)

        return self._read("read summarizations", conversation_id, chain, ())

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        def claim() -> HistoryWork | None:
            paths = self.folder.glob("*.json") if conversation_id is None else [self._path(conversation_id)]
            states = [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]
            latest = latest_end(now, lease_until)
            free = [state for state in states if state["work"] and is_free(state["work"], now, latest)]
            if not free:
                return None
            state = min(free, key=lambda state: when(state["work"]["due_at"]))
            attempts = state["work"]["attempts"] + 1
            state["work"] |= {"attempts": attempts, "lease_id": lease_id, "until": lease_until.isoformat()}
            self._save(state)
            return HistoryWork(state["id"], attempts, lease_id)

        return self._io("claim work", claim)

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        def settle() -> None:
            state = self._load(work.conversation_id)
            held = state["work"]
            if held is None or held["lease_id"] != work.lease_id:
                return
            free = {**held, "lease_id": None, "until": None}
            if retry_at is not None:
                state["work"] = {**free, "due_at": retry_at.isoformat()}
            else:
                state["work"] = {**free, "attempts": 0} if reaches(state, threshold) else None
            self._save(state)

        return self._io("settle work", settle)

    @Effect.gen
    async def _deletion(self, do: Do[RemovalError], operation: str, conversation_id: str) -> None:
        """Fail when who acts sees the conversation and may not delete in it."""
        state = await do(self._io(operation, lambda: self._load(conversation_id)))
        if is_seen(state) and (refusal := principal().refusal("delete", owner_of(state), conversation_id)):
            do.fail(refusal)

    def _path(self, conversation_id: str) -> Path:
        return self.folder / f"{sha256(conversation_id.encode()).hexdigest()}.json"

    def _load(self, conversation_id: str) -> State:
        path = self._path(conversation_id)
        if path.exists():
            state: State = json.loads(path.read_text("utf-8"))
            return state
        counters = {"version": 0, "next_seq": 1, "rewritten_at": 0, "origin": None}
        empty = {
            "rows": [],
            "covered": {},
            "made": {},
            "work": None,
            "owner": ["", ""],
            "kept_since": [0, None],
        }
        return {"id": conversation_id, **counters, **empty}

    def _save(self, state: State) -> None:
        path = self._path(state["id"])
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(state), "utf-8")
        beside.replace(path)

    def _io(self, operation: str, function: Callable[[], T]) -> Effect[T, RepositoryError]:
        return Effect.attempt_sync(
            function,
            OSError,
            to=lambda error: RepositoryError(operation, "unavailable", str(error), cause=error),
        )

    def _read(
        self, operation: str, conversation_id: str, answer: Callable[[State], T], otherwise: T
    ) -> Effect[T, RepositoryError]:
        def read() -> T:
            state = self._load(conversation_id)
            return answer(state) if is_seen(state) else otherwise

        return self._io(operation, read)


def owner_of(state: State) -> Namespace:
    return Namespace(*state["owner"])


def is_seen(state: State) -> bool:
    return bool(state["rows"]) and principal().may("read", owner_of(state), state["id"])


def row_of(draft: MessageDraft, state: State, now: datetime, *, seq: int) -> State:
    return {
        "id": draft.id,
        "seq": seq,
        "place": seq,
        "role": draft.role,
        "content": draft.content,
        "timestamp": draft.timestamp.isoformat(),
        "metadata": draft.metadata,
        "tokens": draft.tokens,
        "covered_by": None,
        "covered_at": None,
        "version": state["version"] + 1,
        "stored_at": now.isoformat(),
    }


def words(row: State) -> tuple[str, str, str]:
    return row["role"], row["content"], json.dumps(row["metadata"], sort_keys=True)


def changed(state: State, now: datetime) -> int:
    version: int = state["version"] + 1
    state |= {"version": version, "updated_at": now.isoformat()}
    return version


def keep_since(state: State) -> None:
    state["kept_since"] = [state["version"], state["updated_at"]]


def version_of(state: State, as_of: int | datetime | None) -> int:
    present: int = state["version"]
    if as_of is None or isinstance(as_of, int):
        return present if as_of is None else min(as_of, present)
    version, instant = state["kept_since"]
    versions = [row["version"] for row in state["rows"] if when(row["stored_at"]) <= as_of]
    return max([0, *versions, *([version] if instant and when(instant) <= as_of else [])])


def rows_at(state: State, version: int) -> list[State]:
    uncovered = {"covered_by": None, "covered_at": None}
    return [
        {**row, **uncovered} if (row["covered_at"] or 0) > version else row
        for row in state["rows"]
        if row["version"] <= version
    ]


def described(state: State) -> Conversation:
    view = [row for row in state["rows"] if row["covered_by"] is None]
    return Conversation(
        state["id"],
        version=state["version"],
        message_count=len(state["rows"]),
        view_count=len(view),
        view_tokens=sum(row["tokens"] for row in view),
        open_count=sum(row["role"] in {"user", "assistant", "tool"} for row in view),
        created_at=when(state["created_at"]),
        updated_at=when(state["updated_at"]),
        forked_from=ForkOrigin(*state["origin"]) if state["origin"] else None,
    )


def reaches(state: State, threshold: WorkThreshold | None) -> bool:
    return threshold is not None and threshold.is_reached_by(described(state))


def branch_of(parent: State, fork: Fork) -> State | None:
    version, seq = parent["version"], parent["next_seq"] - 1
    if isinstance(fork.at, str):
        last = [row for row in parent["rows"] if row["id"] == fork.at]
        if not last:
            return None
        version, seq = last[0]["version"], last[0]["seq"]
    elif fork.at is not None:
        if not 1 <= fork.at <= version:
            return None
        if fork.at < version:
            seq = max((row["seq"] for row in rows_at(parent, fork.at)), default=0)
        version = fork.at
    made = {id_: facts for id_, facts in parent["made"].items() if facts[-1] <= version}
    state: State = {
        "id": fork.new_id,
        "version": version,
        "next_seq": seq + 1,
        "rewritten_at": version,
        "rows": [row for row in rows_at(parent, version) if row["seq"] <= seq],
        "covered": {id_: by for id_, by in parent["covered"].items() if by in made},
        "made": made,
        "work": None,
        "origin": [fork.conversation_id, version, seq],
        "kept_since": parent["kept_since"]
        if parent["kept_since"][0] <= version
        else [version, fork.now.isoformat()],
        "created_at": fork.now.isoformat(),
        "updated_at": fork.now.isoformat(),
    }
    if reaches(state, fork.threshold):
        due = {"due_at": fork.now.isoformat(), "attempts": 0, "lease_id": None, "until": None}
        state["work"] = due
    return state


def fork_problem(parent: State, fork: Fork) -> str:
    cure = "name a stored message of the conversation, or a version from 1 to"
    return f"no message is kept of {fork.at!r}: {cure} {parent['version']} of which messages are kept"


def chosen_by(listing: ConversationListing, known: list[Conversation]) -> tuple[Conversation, ...]:
    places = {
        (conversation.updated_at, conversation.conversation_id): conversation
        for conversation in known
        if conversation.conversation_id.startswith(listing.prefix)
    }
    after = listing.after
    if listing.order == "id":
        chosen = [place for place in places if after is None or place[1] > after[1]]
        chosen.sort(key=lambda place: place[1])
    else:
        chosen = [place for place in places if after is None or place < after]
        chosen.sort(reverse=True)
    return tuple(places[place] for place in chosen[: listing.limit])


def page_of(state: State, query: PageQuery) -> MessagePage:
    version = version_of(state, query.as_of)
    position = "seq" if query.view == "full" else "place"
    rows = [
        row
        for row in sorted(rows_at(state, version), key=lambda row: row[position])
        if (query.view == "full" or row["covered_by"] is None)
        and (query.before is None or when(row["timestamp"]) < query.before)
    ]
    limit = len(rows) if query.limit is None else query.limit
    if query.newer_than is not None:
        chosen = [row for row in rows if row[position] > query.newer_than][:limit]
    else:
        older = [row for row in rows if query.older_than is None or row[position] < query.older_than]
        chosen = older[len(older) - min(limit, len(older)) :]
    return MessagePage(
        tuple(message_of(row) for row in chosen),
        version=version,
        older=chosen[0][position] if chosen and chosen[0] is not rows[0] else None,
        newer=chosen[-1][position] if chosen else query.newer_than or 0,
        is_whole=version >= state["kept_since"][0],
    )


def message_of(row: State) -> ChatMessage:
    return ChatMessage(
        row["id"],
        row["seq"],
        row["role"],
        row["content"],
        when(row["timestamp"]),
        row["metadata"],
        row["covered_by"],
    )


def made(state: State, summary_id: str) -> SummarizationMetadata:
    metadata_id, covers, starts_at, ends_at, skill_id, deleted, created_at, _ = state["made"][summary_id]
    return SummarizationMetadata(
        metadata_id,
        state["id"],
        summary_id,
        tuple(covers),
        TimestampRange(when(starts_at), when(ends_at)),
        skill_id,
        deleted,
        when(created_at),
    )


def is_free(work: State, now: datetime, latest: datetime) -> bool:
    ends = (when(work["due_at"]), when(work["until"]) if work["until"] else now)
    return all(end <= now or end > latest for end in ends)


def in_folder(folder: Path) -> Layer[MessageRepositoryTag]:
    return Layer.sync(MessageRepositoryTag, lambda: FolderRepository(folder))
