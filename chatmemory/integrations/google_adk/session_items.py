"""A session of Google ADK as items, and the changes of it, each in one transaction.

googleAdk / appState / APP                       the state of an app, by its keys
googleAdk / userState / APP / USER               the state of a user in an app, by its keys
googleAdk / session / APP / USER                 by session: its revision, number of events, and time of the last write
googleAdk / sessionState / APP / USER / SESSION  the state of a session, by its keys
googleAdk / event / APP / USER / SESSION         its events, by their numbers
googleAdk / eventId / APP / USER / SESSION       the number of each event, by its id
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

from attrs import evolve, frozen
from google.adk.sessions.state import State

from chatmemory.integrations.labels import label_of, text_of
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemReading,
    Labels,
    StoredItem,
    items_below,
    removals_below,
)

OWNER: Final = "googleAdk"
"""The first label, see ``Labels``."""

Values: TypeAlias = Mapping[str, Any]


@final
@frozen
class SessionName:
    """A session: of a user in an app."""

    app: str
    user: str
    session: str

    @property
    def head(self) -> ItemName:
        """The name of the item with its head."""
        return ItemName(sessions_of(self.app, self.user), label_of(self.session))

    @property
    def state(self) -> Labels:
        """The namespace of its state."""
        return self._labels("sessionState")

    @property
    def events(self) -> Labels:
        """The namespace of its events."""
        return self._labels("event")

    @property
    def event_ids(self) -> Labels:
        """The namespace of the numbers of its events."""
        return self._labels("eventId")

    def event(self, number: int) -> ItemName:
        """Return the name of an event; the number of the first event is 0."""
        return ItemName(self.events, str(number))

    def event_id(self, event_id: str) -> ItemName:
        """Return the name of the number of the event with this id."""
        return ItemName(self.event_ids, label_of(event_id))

    def _labels(self, kind: str) -> Labels:
        return (OWNER, kind, label_of(self.app), label_of(self.user), label_of(self.session))


def sessions_of(app: str, user: str | None) -> Labels:
    """Return the namespace of the sessions of a user in an app; of all users when *user* is None."""
    return (OWNER, "session", label_of(app), *(() if user is None else (label_of(user),)))


def app_state(app: str) -> Labels:
    """Return the namespace of the state of an app."""
    return (OWNER, "appState", label_of(app))


def user_state(app: str, user: str | None) -> Labels:
    """Return the namespace of the state of a user in an app; of all users when *user* is None."""
    return (OWNER, "userState", label_of(app), *(() if user is None else (label_of(user),)))


@final
@frozen
class SessionHead:
    """The facts about a session apart from its state and its events.

    Attributes:
        revision: 1 when it is created, one more with each event.
        count: the number of its events.
        updated_at: the time of its creation or of its last event, in seconds since 1970, as ADK keeps time.
        last_event_id: the id of its last event; empty: it has none.
    """

    revision: int
    count: int
    updated_at: float
    last_event_id: str

    def put(self, name: SessionName) -> ItemPut:
        """Return the put that stores the head."""
        value = [self.revision, self.count, self.updated_at, self.last_event_id]
        return ItemPut(name.head, json.dumps(value))

    @staticmethod
    def of(item: StoredItem) -> SessionHead:
        """Return the head in *item*."""
        return SessionHead(*json.loads(item.value))


@final
@frozen
class StoredSession:
    """A session that was read: its *name*, its *head*, the *state* of all scopes, and *events* as JSON, in order."""

    name: SessionName
    head: SessionHead
    state: dict[str, Any]
    events: Sequence[dict[str, Any]] = ()


@final
@frozen
class Scopes:
    """A state split by scope, without the prefixes; ``temp:`` keys belong to no scope."""

    app: Values
    user: Values
    session: Values

    @staticmethod
    def of(state: Values) -> Scopes:
        """Split *state* by the prefixes of its keys."""
        app: dict[str, Any] = {}
        user: dict[str, Any] = {}
        session: dict[str, Any] = {}
        for key, value in state.items():
            if key.startswith(State.APP_PREFIX):
                app[key.removeprefix(State.APP_PREFIX)] = value
            elif key.startswith(State.USER_PREFIX):
                user[key.removeprefix(State.USER_PREFIX)] = value
            elif not key.startswith(State.TEMP_PREFIX):
                session[key] = value
        return Scopes(app, user, session)

    def puts(self, name: SessionName) -> list[ItemPut]:
        """Return the puts that store the state."""
        scopes = (
            (app_state(name.app), self.app),
            (user_state(name.app, name.user), self.user),
            (name.state, self.session),
        )
        return [
            ItemPut(ItemName(labels, label_of(key)), json.dumps(value))
            for labels, values in scopes
            for key, value in values.items()
        ]


def created(name: SessionName, state: Values, at: float) -> ItemChange[StoredSession | None]:
    """Store a new session, made *at* a time in seconds since 1970, and return it; None: the session exists already."""
    (item,) = yield (name.head,)
    if item is not None:
        return (), None
    before = yield from _scoped(name)
    head = SessionHead(1, 0, at, "")
    given = {key: value for key, value in state.items() if not key.startswith(State.TEMP_PREFIX)}
    return (head.put(name), *Scopes.of(state).puts(name)), StoredSession(name, head, {**before, **given})


def read(name: SessionName, *, recent: int | None, since: float | None) -> ItemChange[StoredSession | None]:
    """Read a session at one moment, with its last *recent* events at *since* or later; None: it does not exist.

    *since* is in seconds since 1970; None for both: all events.
    """
    (item,) = yield (name.head,)
    if item is None:
        return (), None
    head = SessionHead.of(item)
    found: Sequence[StoredItem | None] = ()
    if recent is None or since is not None or recent >= head.count:
        found = yield from items_below(name.events)
    elif recent > 0:
        found = yield tuple([name.event(number) for number in range(head.count - recent, head.count)])
    numbered = sorted((int(one.name.key), one.value) for one in found if one is not None)
    events: list[dict[str, Any]] = [json.loads(value) for _, value in numbered]
    if since is not None:
        events = [event for event in events if event["timestamp"] >= since]
    if recent is not None:
        events = events[max(0, len(events) - recent) :]
    return (), StoredSession(name, head, (yield from _scoped(name)), events)


@final
@frozen
class Expected:
    """The state in which the writer of an event expects the session.

    Attributes:
        revision: the revision that was read; None: the session was not read from this service.
        updated_at: the time of the last write.
        last_event_id: the id of its last event; empty: it has none.
    """

    revision: str | None
    updated_at: float
    last_event_id: str

    def is_stale(self, head: SessionHead) -> bool:
        """Return whether there was another write since."""
        if self.revision is not None:
            return self.revision != str(head.revision)
        return head.updated_at > self.updated_at and head.last_event_id != self.last_event_id


@final
@frozen
class Appended:
    """The session after an event; *is_repeated*: the event was stored before."""

    head: SessionHead
    is_repeated: bool


def appended(
    name: SessionName, event: Values, delta: Values, expected: Expected
) -> ItemChange[Appended | SessionHead | None]:
    """Store an event with its changes of the state, in all scopes.

    Returns:
        the session afterwards; its head when it is not as its writer *expected*; None when it does not exist.
    """
    item, numbered = yield (name.head, name.event_id(event["id"]))
    if item is None:
        return (), None
    head, names = SessionHead.of(item), [name.event_id(event["id"])]
    if numbered is not None:
        (before,) = yield (name.event(json.loads(numbered.value)),)
        if before is not None and json.loads(before.value) == event:
            return (), Appended(head, is_repeated=True)
        names = []  # another event with an id that is taken is stored, too
    if expected.is_stale(head):
        return (), head
    after = evolve(
        head,
        revision=head.revision + 1,
        count=head.count + 1,
        updated_at=event["timestamp"],
        last_event_id=event["id"],
    )
    puts = [
        ItemPut(name.event(head.count), json.dumps(event)),
        *[ItemPut(each, json.dumps(head.count)) for each in names],
        after.put(name),
        *Scopes.of(delta).puts(name),
    ]
    return tuple(puts), Appended(after, is_repeated=False)


def deleted(name: SessionName) -> ItemChange[None]:
    """Remove a session with its state and its events; the state of the user and the app stays."""
    puts = [ItemPut(name.head, None)]
    for labels in (name.state, name.events, name.event_ids):
        puts += yield from removals_below(labels)
    return tuple(puts), None


def deleted_user(app: str, user: str) -> ItemChange[None]:
    """Remove all sessions of a user in an app, and the user's state there."""
    puts: list[ItemPut] = []
    for kind in ("session", "sessionState", "event", "eventId", "userState"):
        puts += yield from removals_below((OWNER, kind, label_of(app), label_of(user)))
    return tuple(puts), None


def listed(app: str, user: str | None) -> ItemChange[list[StoredSession]]:
    """Read the sessions of a user in an app, without their events; of all users when *user* is None."""
    heads = yield from items_below(sessions_of(app, user))
    states = yield from items_below((OWNER, "sessionState", *sessions_of(app, user)[2:]))
    of_users = yield from items_below(user_state(app, user))
    of_app = yield from items_below(app_state(app))
    by_namespace: dict[Labels, dict[str, Any]] = {}
    for item in (*states, *of_users):
        by_namespace.setdefault(item.name.namespace, {}).update(_values([item]))
    found: list[StoredSession] = []
    for item in heads:
        name = SessionName(app, text_of(item.name.namespace[-1]), text_of(item.name.key))
        state = {
            **by_namespace.get(name.state, {}),
            **_values(of_app, State.APP_PREFIX),
            **_prefixed(by_namespace.get(user_state(app, name.user), {}), State.USER_PREFIX),
        }
        found.append(StoredSession(name, SessionHead.of(item), state))
    return (), sorted(found, key=lambda one: (one.head.updated_at, one.name.user, one.name.session))


def values_of_user(app: str, user: str) -> ItemChange[dict[str, Any]]:
    """Read the state of a user in an app, without prefixes."""
    return (), _values((yield from items_below(user_state(app, user))))


def _scoped(name: SessionName) -> ItemReading[dict[str, Any]]:
    """Read the state that the session shows: its own, its user's and its app's."""
    of_session = yield from items_below(name.state)
    of_app = yield from items_below(app_state(name.app))
    of_user = yield from items_below(user_state(name.app, name.user))
    return {
        **_values(of_session),
        **_values(of_app, State.APP_PREFIX),
        **_values(of_user, State.USER_PREFIX),
    }


def _values(items: Iterable[StoredItem], prefix: str = "") -> dict[str, Any]:
    """Return the state in *items*, by its keys."""
    values = {text_of(item.name.key): json.loads(item.value) for item in items}
    return _prefixed(values, prefix)


def _prefixed(values: Values, prefix: str) -> dict[str, Any]:
    return {prefix + key: value for key, value in values.items()}
