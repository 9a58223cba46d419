"""Short words for what the tests of this folder say to a repository and ask of it."""

from datetime import UTC, datetime

from chatmemory import Append, ChatMessage, MessageDraft, MessageRepository, PageQuery, Summary, WorkThreshold
from chatmemory.input.json_value import JsonObject

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def draft(id_: str, content: str = "你好", metadata: JsonObject | None = None) -> MessageDraft:
    return MessageDraft(id_, "user", content, NOW, metadata, tokens=2)


def batch(conversation_id: str, *drafts: str | MessageDraft, is_due: bool = False) -> Append:
    made = tuple(draft(each) if isinstance(each, str) else each for each in drafts)
    return Append(conversation_id, made, NOW, WorkThreshold() if is_due else None)


def summary(conversation_id: str, id_: str, *covers: str, at_version: int, delete: bool = False) -> Summary:
    return Summary(
        conversation_id,
        metadata_id=f"about {id_}",
        draft=MessageDraft(id_, "summary", "总之", NOW, None, tokens=1),
        covers=covers,
        planned_at_version=at_version,
        starts_at=NOW,
        ends_at=NOW,
        skill_id="conversation-summary",
        delete_covered=delete,
        now=NOW,
        threshold=None,
    )


async def stored(repository: MessageRepository, conversation_id: str) -> tuple[ChatMessage, ...]:
    page = await repository.page(PageQuery(conversation_id, "full")).or_raise()
    return page.messages if page else ()


async def stored_ids(repository: MessageRepository, conversation_id: str) -> list[str]:
    return [message.id for message in await stored(repository, conversation_id)]
