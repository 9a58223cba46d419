"""Formats the findings of ``doctor`` as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from chatmemory.text.shown_text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.pastchats.past_chats import Finding
    from chatmemory.programs.pastchats.printed_past_chats import PrintedFindings

_COLOUR: Final = {"ok": "green", "warning": "yellow", "error": "red"}


def findings_object(findings: Sequence[Finding]) -> PrintedFindings:
    """Return *findings* as ``doctor --json`` prints them; an index is healthy if none of them is an error."""
    return {"isHealthy": not any(finding.severity == "error" for finding in findings), "findings": findings}


def findings_text(findings: tuple[Finding, ...]) -> str:
    """Return *findings* as ``doctor`` prints them: one per line, each with its repair below."""
    return "\n".join(
        f"{click.style(f'{finding.severity:7}', fg=_COLOUR[finding.severity])} {finding.code} {shown(finding.message)}"
        + (f"\n        repair: {finding.repair}" if finding.repair else "")
        for finding in findings
    )
