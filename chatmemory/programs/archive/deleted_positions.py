"""``DeletedPositions``: the positions of messages that a summary deleted, so that a copy of the conversation has the same view."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import final

from attrs import define, field

from chatmemory.conversation.messages import SummarizationMetadata


@final
@define(eq=False)
class DeletedPositions:
    """The summaries of a conversation.

    Attributes:
        summaries: by the ids of their messages.
        lost: by the id of a stored summary, the summaries that it deleted, directly or through another, innermost first.
        seqs: the number of each stored message by its id; empty if no summary deleted messages.
        model: the ids of the model's view in order; empty if no summary deleted messages.
    """

    summaries: Mapping[str, SummarizationMetadata]
    lost: Mapping[str, Sequence[SummarizationMetadata]] = field(
        factory=dict[str, Sequence[SummarizationMetadata]]
    )
    seqs: Mapping[str, int] = field(factory=dict[str, int])
    model: Sequence[str] = ()
    _all: Mapping[str, SummarizationMetadata] = field(init=False)
    _before: Mapping[str, list[SummarizationMetadata]] = field(init=False)
    _deletions: list[tuple[int, int]] = field(factory=list[tuple[int, int]], init=False)

    def __attrs_post_init__(self) -> None:
        lost = {one.summary_message_id: one for every in self.lost.values() for one in every}
        self._all = {**lost, **self.summaries}
        before = defaultdict[str, list[SummarizationMetadata]](list)
        for id_ in self.summaries:
            for summary in (*self.lost.get(id_, ()), self.summaries[id_]):
                if summary.messages_deleted:
                    behind = self._behind(summary.summary_message_id, self.seqs[id_])
                    before[behind or id_].append(summary)
                    self._deletions.append((self.seqs[behind or id_], self.seqs[id_]))
        self._before = before

    @property
    def has_deleted(self) -> bool:
        """Whether a summary has deleted messages."""
        return bool(self._before)

    def has_later_deletion(self, seq: int) -> bool:
        """Return whether a summary behind the message number *seq* has deleted messages before it."""
        return any(place <= seq < summary for place, summary in self._deletions)

    def deleted_before(self, message_id: str) -> Iterator[tuple[datetime, tuple[str, ...]]]:
        """Yield the deleted messages right before a stored one, each group with its earliest time."""
        for summary in self._before.get(message_id, ()):
            ids = tuple(id_ for id_ in summary.summarized_message_ids if id_ not in self._all)
            if ids:
                yield summary.timestamp_range.start, ids

    def _behind(self, summary_id: str, seq: int) -> str | None:
        """Return the message after a summary in the view, if it was stored before the summary; otherwise None."""
        coverer = None
        if summary_id in self.model:
            row: Sequence[str] = self.model
        else:
            found = (id_ for id_, one in self._all.items() if summary_id in one.summarized_message_ids)
            if (coverer := next(found, None)) is None:
                return None
            row = self._all[coverer].summarized_message_ids
        for following in row[row.index(summary_id) + 1 :]:
            if self.seqs.get(following, seq) < seq:
                return following
        return None if coverer is None else self._behind(coverer, seq)
