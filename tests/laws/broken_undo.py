"""Repositories of messages that get undo and replacement wrong, and what clearing says of branches."""

from typing import Any

from attrs import evolve

from chatmemory.conversation.message_repository import Appended, PageQuery, Replacement, Undo
from chatmemory.conversation.messages import ClearReport, Undone
from chatmemory.effect import Do, Effect, Failure
from chatmemory.errors import NotUndoableError
from tests.laws.broken import Broken


class UndoesBySayingSo(Broken, breaks="l29_undo_of_what_was_added"):
    """It answers well, and leaves the messages where they are."""

    @Effect.gen
    async def undo(self, do: Do[Any], undo: Undo, /) -> Undone:
        before = self.history(undo.conversation_id)
        undone = await do(self.inner.undo(undo))
        after = self.history(undo.conversation_id)
        self.put(undo.conversation_id, evolve(before, state=after.state))
        return undone


class UndoesWithoutATrace(Broken, breaks="l29_undo_of_what_was_added"):
    @Effect.gen
    async def undo(self, do: Do[Any], undo: Undo, /) -> Undone:
        undone = await do(self.inner.undo(undo))
        self.inner.database.log.kept.pop()
        return undone


class LeavesWhatWasSummarizedCovered(Broken, breaks="l29_undo_of_a_summary"):
    @Effect.gen
    async def undo(self, do: Do[Any], undo: Undo, /) -> Undone:
        before = self.history(undo.conversation_id)
        undone = await do(self.inner.undo(undo))
        if undone.action == "summarized":
            after = self.history(undo.conversation_id)
            left = {id_: entry for id_, entry in before.entries.items() if id_ in after.entries}
            self.put(undo.conversation_id, evolve(after, entries=left))
        return undone


class NeverBringsBack(Broken, breaks="l29_undo_of_a_clear"):
    """What was cleared is gone, whoever holds it."""

    @Effect.gen
    async def undo(self, do: Do[Any], undo: Undo, /) -> Undone:
        if not self.history(undo.conversation_id).entries and self.version(undo.conversation_id):
            do.fail(NotUndoableError(undo.conversation_id, self.version(undo.conversation_id), "gone"))
        return await do(self.inner.undo(undo))


class UndoesWhicheverIsNewest(Broken, breaks="l29_undo_is_guarded", by_long_program="L29"):
    def undo(self, undo: Undo, /) -> Effect[Undone, Any]:
        return self.inner.undo(evolve(undo, expected_version=None))


class HidesWhoStillHoldsIt(Broken, breaks="l29_undo_of_a_clear"):
    def clear(self, conversation_id: str, **how: Any) -> Effect[ClearReport | None, Any]:
        cleared = self.inner.clear(conversation_id, **how)
        return cleared.map(lambda report: report and evolve(report, still_shared_by=()))


class ClearsNoBranch(Broken, breaks="l29_clear_of_a_tree"):
    def clear(
        self, conversation_id: str, *, with_branches: bool = False, **how: Any
    ) -> Effect[ClearReport | None, Any]:
        del with_branches
        return self.inner.clear(conversation_id, **how)


class CallsItUnfound(Broken, breaks="l29_undo_is_guarded"):
    """A change that nothing keeps is answered as a defect of the store."""

    @Effect.gen
    async def undo(self, do: Do[Any], undo: Undo, /) -> Undone:
        outcome = await self.inner.undo(undo)
        if isinstance(outcome, Failure) and isinstance(outcome.failure(), NotUndoableError):
            return Undone("cleared", self.version(undo.conversation_id), 0, 0)
        return await do(Effect.from_result(outcome))


class ReplacesNothing(Broken, breaks="l31_replace"):
    """It only appends."""

    def replace(self, replacement: Replacement, /) -> Effect[Appended, Any]:
        return self.inner.replace(evolve(replacement, count=0))


class ReplacesByMessagesAlone(Broken, breaks="l31_replace_by_nothing"):
    """Without new messages it removes none."""

    def replace(self, replacement: Replacement, /) -> Effect[Appended, Any]:
        count = replacement.count if replacement.batch.drafts else 0
        return self.inner.replace(evolve(replacement, count=count))


class SparesSummaries(Broken, breaks="l31_replaced_summary"):
    """A summary in view stays, with what it stands for."""

    @Effect.gen
    async def replace(self, do: Do[Any], replacement: Replacement, /) -> Appended:
        page = await do(self.inner.page(PageQuery(replacement.conversation_id, "model")))
        summaries = 0 if page is None else sum(one.role == "summary" for one in page.messages)
        count = replacement.count
        return await do(
            self.inner.replace(
                evolve(replacement, count=None if count is None else max(0, count - summaries))
            )
        )


class ReplacesWhicheverIsNewest(Broken, breaks="l31_refused"):
    """The expected version counts for nothing."""

    def replace(self, replacement: Replacement, /) -> Effect[Appended, Any]:
        return self.inner.replace(evolve(replacement, batch=evolve(replacement.batch, expected_version=None)))
