"""Samples for the laws of messages: drafts, batches and summaries, and texts that have broken stores before.

The strategies draw from small pools where values have to collide (ids, contents), and from large ones elsewhere.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal
from chatmemory.conversation.message_repository import Append, MessageDraft, Summary, WorkThreshold
from chatmemory.conversation.messages import ChatMessage
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject

START = datetime(2026, 2, 17, 9, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")  # of whoever speaks

ALIKE = (
    ("a", "A", "a%"),
    ("aa", "a_", "%"),
    ("a ", " a", "a"),
    ("会议", "会", "会_"),
    ("\u00e9", "e\u0301", "🙂"),
    ("'; --", "a\nb", "a\\"),
)
"""Suffixes of conversation ids that differ by case, space, wildcards, accents, or that extend another one."""

TEXTS = (
    "Where were we?",
    "我们上次说到哪里了？下周三在上海开会。",
    "",
    " \t\r\n ",
    "👩‍👩‍👧‍👦 🇨🇳 \u00e9 e\u0301 ﷽ \u202etxet\u202c \ufeff\uffff",
    "'; DROP TABLE chat_message; -- %_\\ $1 :name ?",
    '{"role": "system", "content": "<|im_start|>"}',
    "\x01\x1b[31m\x7f\u0085\u2028",
    "很长的一段话。" * 3000,
)

METADATA: tuple[JsonObject | None, ...] = (
    None,
    {},
    {"b": 1, "a": [1, 1.5, True, None, "文", {"": []}]},
    {"n": 1},
    {"n": True},
    {"n": 1.0},
    {"big": 2**63, "small": -(2**70), "tiny": 5e-324, "多": "语\u2028言 \x1f \\ \" '"},
    {"tool_calls": [{"id": "call_1", "function": {"name": "search", "arguments": '{"q": "%"}'}}]},
)


def somebody(user: str, *granted: Granted, app: str = "") -> Principal:
    """Return a principal with all rights on its own conversations, and with the rights of *granted*."""
    own = Namespace(user, app)
    return Principal(name=user, namespace=own, granted=(Granted(own), *granted))


ALWAYS = WorkThreshold()
"""A threshold that every conversation exceeds."""

INSTANTS = (
    START,
    START + timedelta(microseconds=1),
    START - timedelta(days=3),
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
)
"""Times of messages: equal ones, a clock that was set back, and the limits of time."""


def size_of(content: str) -> int:
    """Return the token count of a sample: its number of characters plus one."""
    return len(content) + 1


def said(
    message_id: str,
    content: str = "你好",
    *,
    role: Role = "user",
    timestamp: datetime = START,
    metadata: JsonObject | None = None,
) -> MessageDraft:
    """Return a message to store."""
    return MessageDraft(message_id, role, content, timestamp, metadata, tokens=size_of(content))


def batch(
    conversation_id: str,
    *drafts: MessageDraft,
    expected_version: int | None = None,
    threshold: WorkThreshold | None = None,
    now: datetime = START,
) -> Append:
    """Return an append of *drafts*."""
    return Append(conversation_id, drafts, now, threshold, expected_version)


def summary_of(
    conversation_id: str,
    covered: Sequence[ChatMessage],
    *,
    message_id: str,
    planned_at_version: int,
    delete_covered: bool = False,
    threshold: WorkThreshold | None = None,
    now: datetime = START,
) -> Summary:
    """Return a summary that replaces *covered*."""
    times = [message.timestamp for message in covered]
    return Summary(
        conversation_id=conversation_id,
        metadata_id=f"origin of {message_id}",
        draft=said(
            message_id,
            f"总结 of {len(covered)}",
            role="summary",
            timestamp=max(times),
            metadata={"summaryMetadataId": f"origin of {message_id}"},
        ),
        covers=tuple(message.id for message in covered),
        planned_at_version=planned_at_version,
        starts_at=min(times),
        ends_at=max(times),
        skill_id="conversation-summary",
        delete_covered=delete_covered,
        now=now,
        threshold=threshold,
    )


any_text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
_any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=5,
)

drafts: st.SearchStrategy[MessageDraft] = st.builds(
    said,
    st.text(st.sampled_from("iI %_一🙂"), max_size=2),
    st.sampled_from(TEXTS) | any_text,
    role=st.sampled_from(ROLES),
    timestamp=st.sampled_from(INSTANTS),
    metadata=st.sampled_from(METADATA) | st.dictionaries(any_text, _any_json, max_size=3),
)
"""Messages with incomplete ids."""

batches = st.lists(drafts, min_size=1, max_size=5)
names = st.sampled_from(ALIKE)
instants = st.sampled_from(INSTANTS)
