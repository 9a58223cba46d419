"""Repositories of messages that get the replacement of the newest messages wrong."""

from typing import Any

from attrs import evolve

from chatmemory.conversation.message_repository import Appended, PageQuery, Replacement
from chatmemory.effect import Do, Effect
from tests.laws.broken import Broken


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
