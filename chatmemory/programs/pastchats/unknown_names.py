"""Names of projects and formats of which the index holds nothing: typing errors, most of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chatmemory.text.shown_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatmemory.pastchats.past_chats import PastChatsStatistics
    from chatmemory.pastchats.prompt import PromptFilter
    from chatmemory.programs.pastchats.host import Host


def tell_unknown_names(host: Host, which: PromptFilter) -> None:
    """Say on the side which of *which* mean nothing that is kept; to be asked when nothing was found."""
    if not (which.projects or which.formats):
        return
    statistics = host.read(lambda chats: chats.statistics())
    for line in unknown_names(which, statistics):
        click.echo(line, err=True)


def unknown_names(which: PromptFilter, statistics: PastChatsStatistics) -> Iterator[str]:
    """Yield a line for each project and each format of *which* that *statistics* do not count."""
    from chatmemory.effect.likeness import did_you_mean

    projects = {project.casefold() for project in statistics.by_project}
    for project in which.projects:
        if project.casefold() not in projects:
            yield f"no turn is of the project {shown(project)!r}{did_you_mean(project, statistics.by_project)}"
    formats = sorted(statistics.by_format)
    for format_ in which.formats:
        if format_ not in formats:
            there_are = f": there are {', '.join(formats)}" if formats else ""
            yield f"no turn is of the format {shown(format_)!r}{did_you_mean(format_, formats) or there_are}"
