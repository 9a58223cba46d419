"""``ChatMemorySessionService``: the sessions that Google ADK creates, reads, lists, deletes and appends to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.platform.time import get_time
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from pydantic_core import PydanticSerializationError, to_jsonable_python

from chatmemory.effect import Runner
from chatmemory.integrations.google_adk.session_items import (
    Appended,
    Expected,
    SessionName,
    StoredSession,
    appended,
    created,
    deleted,
    deleted_user,
    listed,
    read,
    values_of_user,
)
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.items.item_repository import ItemChange, ItemRepositoryTag, changed_items

A = TypeVar("A")

RAISING: Final = Raising(refused=InputValidationError, failed=RuntimeError, closed=RuntimeError)

STALE: Final = (
    "somebody else has written to session {id!r} since it was read (it is at revision {revision}):"
    " read it again with get_session, then append the event"
)


class ChatMemorySessionService(BaseSessionService):
    """Sessions with their events, and the state of apps, users and sessions, for ADK's ``Runner``.

    *runtime* provides the store of chatmemory: a ``ThreadRuntime`` works with any event loop, a ``ManagedRuntime``
    with its own, faster.  This class does not close it.

    An event is stored in one transaction with its changes of the state.  An event that equals a stored one is stored
    once, so it may be repeated.  A session that was read before another write to it is stale: ``append_event`` raises
    ADK's ``StaleSessionError``.  Input that is not JSON raises ``InputValidationError``, any other failure raises
    ``RuntimeError`` with chatmemory's own message; ``__cause__.error`` is the failure as a value.
    """

    def __init__(self, runtime: Runner[ItemRepositoryTag]) -> None:
        """Store the runtime; nothing is opened yet."""
        self._runtime = runtime
        # Agents that run in parallel share a session object: each append passes its revision to the next one.
        self._locks: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session.

        Args:
            app_name: the app.
            user_id: the user.
            state: the first state; ``app:`` and ``user:`` keys are shared, ``temp:`` keys are not stored.
            session_id: its id, without spaces around it; None or empty: a new one.

        Raises:
            AlreadyExistsError: the user already has a session with that id in the app.
        """
        name = SessionName(app_name, user_id, (session_id or "").strip() or str(uuid4()))
        given = _json(partial(to_jsonable_python, state or {}), "state")
        found = await self._changed(partial(created, name, given, get_time()))
        if found is None:
            raise AlreadyExistsError(f"Session with id {name.session} already exists.")
        return _session(found)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return a session with its events, oldest first; None when it does not exist.

        *config* has the number of the last events, and their earliest time; None: all.
        """
        asked = config or GetSessionConfig()
        name = SessionName(app_name, user_id, session_id.strip())
        reading = partial(read, name, recent=asked.num_recent_events, since=asked.after_timestamp)
        found = await self._done(reading)
        return None if found is None else _session(found)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return sessions without their events, the most recently written last; of all users when *user_id* is None."""
        found = await self._done(partial(listed, app_name, user_id))
        return ListSessionsResponse(sessions=[*map(_session, found)])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its state and events, in one transaction; an unknown session is ignored."""
        await self._changed(partial(deleted, SessionName(app_name, user_id, session_id.strip())))

    async def delete_user(self, *, app_name: str, user_id: str) -> None:
        """Delete all sessions of a user in an app, and the user's state there, in one transaction; the app's state stays."""
        await self._changed(partial(deleted_user, app_name, user_id))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state of a user in an app, without the prefix ``user:``."""
        return await self._done(partial(values_of_user, app_name, user_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event, and add it to *session*; a partial event is neither stored nor added.

        Args:
            session: the session, as it was created or read; its state and its events change with it.
            event: the event; its ``temp:`` state stays only in *session*.

        Raises:
            SessionNotFoundError: the session does not exist.
            StaleSessionError: there was another write to it since it was read.
        """
        if event.partial:
            return event
        return await to_its_end(self._append(session, event))

    async def _append(self, session: Session, event: Event) -> Event:
        place = (asyncio.get_running_loop(), session.app_name, session.user_id, session.id)
        lock = self._locks.setdefault(place, asyncio.Lock())
        async with lock:
            self._apply_temp_state(session, event)
            event = self._trim_temp_delta_state(event)
            given = _json(partial(event.model_dump, exclude_none=True, mode="json"), "event")
            delta = _json(partial(to_jsonable_python, event.actions.state_delta), "state_delta")
            expected = Expected(
                session._storage_update_marker,  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  ADK stores it for this service
                session.last_update_time,
                session.events[-1].id if session.events else "",
            )
            name = SessionName(session.app_name, session.user_id, session.id)
            answer = await self._done(partial(appended, name, given, delta, expected))
            if answer is None:
                raise SessionNotFoundError(f"Session {session.id} not found.")
            if not isinstance(answer, Appended):
                raise StaleSessionError(STALE.format(id=session.id, revision=answer.revision))
            if answer.is_repeated:
                return event
            session.last_update_time = answer.head.updated_at
            session._storage_update_marker = str(answer.head.revision)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  ADK stores it for this service
            return self._commit_event_to_session(session, event)

    async def _changed(self, steps: Callable[[], ItemChange[A]]) -> A:
        return await to_its_end(self._done(steps))

    async def _done(self, steps: Callable[[], ItemChange[A]]) -> A:
        return await RAISING.run(self._runtime, changed_items(steps))


def _session(found: StoredSession) -> Session:
    session = Session(
        id=found.name.session,
        app_name=found.name.app,
        user_id=found.name.user,
        state=found.state,
        events=[Event.model_validate(event) for event in found.events],
        last_update_time=found.head.updated_at,
    )
    session._storage_update_marker = str(found.head.revision)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  ADK stores it for this service
    return session


def _json(make: Callable[[], dict[str, Any]], what: str) -> dict[str, Any]:
    """Return the result of *make* as JSON; *what* is its name in an error."""
    try:
        made = make()
        json.dumps(made)
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        raise InputValidationError(f"{what}: what is no JSON cannot be stored: {error}") from error
    return made
