"""``chatmemory audit``: who did what to which conversation or memory, as the store has it on record."""

import json
import os
from datetime import datetime
from typing import Final, cast

import anyio
import click

from chatmemory.effect import EffectFailed, Failure, ManagedRuntime, Outcome
from chatmemory.effect.config.config_error import ConfigError
from chatmemory.effect.services.clock import SystemClock
from chatmemory.errors import DataValidationError, GenericMemoryError, RepositoryError, memory_error
from chatmemory.events.audit import AuditEntry
from chatmemory.input.structure import unstructure
from chatmemory.programs.operations.audit import AuditList, AuditPage, audit_page
from chatmemory.programs.pastchats.options import instant
from chatmemory.settings.memory_settings import Settings
from chatmemory.text.shown_text import shown
from chatmemory_layers.sqlite.engine.store_file import store_file
from chatmemory_layers.stacks.ready_made import trail_from_settings

NOTHING: Final = "nothing of it is on record; a program that has the store to itself leaves no entry"


def instant_of(since: str | None) -> datetime | None:
    """Read an instant as the options of pastchats-memory are read."""
    try:
        return None if since is None else instant(since, SystemClock().now().astimezone())
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--since") from None


def read_trail(
    settings: Settings, asked: AuditList
) -> Outcome[AuditPage, DataValidationError | GenericMemoryError | ConfigError]:
    """Open the store of *settings*, which has to be there, and read its trail."""
    store = settings.memory.store
    if store.backend == "sqlite" and not (path := store_file(store.sqlite)).exists():
        missing = RepositoryError("read the audit trail", "missing", f"there is no {os.fspath(path)}")
        return Failure(GenericMemoryError(missing))

    async def read() -> Outcome[AuditPage, DataValidationError | GenericMemoryError]:
        async with ManagedRuntime(trail_from_settings(settings)) as runtime:
            return await runtime.run(audit_page(asked))

    try:
        return anyio.run(read)
    except EffectFailed as failed:  # the store could not be opened
        return Failure(memory_error(cast("RepositoryError | ConfigError", failed.error)))


def show(page: AuditPage, *, as_json: bool) -> None:
    """Print *page*: one line for each entry, or JSON."""
    if as_json:
        click.echo(json.dumps(unstructure(page), ensure_ascii=False, indent=2))
        return
    for entry in page.entries:
        click.echo(_line(entry))
    if not page.entries:
        click.echo(NOTHING, err=True)
    if page.next is not None:
        click.echo(f"there is more: --after '{page.next}'", err=True)


def _line(entry: AuditEntry) -> str:
    at = entry.at.astimezone().isoformat(sep=" ", timespec="seconds")
    owner = "/".join(filter(None, [entry.owner.user, entry.owner.app])) or "nobody"
    return shown(f"{at}  {entry.who} ({entry.user}) {entry.action} {entry.kind} {entry.target!r} of {owner}")
