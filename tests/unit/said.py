"""Short words for what the tests of stores say to a repository and ask of it."""

from chatmemory import (
    Append,
    ChatMessage,
    MessageDraft,
    MessageRepository,
    Outcome,
    PageQuery,
    RepositoryError,
    Summary,
)
from chatmemory.laws.kit import samples
from chatmemory.laws.kit.samples import ALWAYS, START, said, summary_of


def batch(conversation_id: str, *drafts: str | MessageDraft, is_due: bool = False) -> Append:
    """Return an append of *drafts*; an id alone is a message with that id."""
    made = [said(each) if isinstance(each, str) else each for each in drafts]
    return samples.batch(conversation_id, *made, threshold=ALWAYS if is_due else None)


def summary(conversation_id: str, id_: str, *covers: str, at_version: int) -> Summary:
    covered = [ChatMessage(each, 1, "user", "", START) for each in covers]
    return summary_of(conversation_id, covered, message_id=id_, planned_at_version=at_version)


async def stored(repository: MessageRepository, conversation_id: str) -> tuple[ChatMessage, ...]:
    page = await repository.page(PageQuery(conversation_id, "full")).or_raise()
    return page.messages if page else ()


async def stored_ids(repository: MessageRepository, conversation_id: str) -> list[str]:
    return [message.id for message in await stored(repository, conversation_id)]


def problem_of(refused: Outcome[object, object]) -> str:
    error = refused.failure()
    assert isinstance(error, RepositoryError), error
    return error.problem
