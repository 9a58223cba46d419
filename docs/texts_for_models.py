"""``llms.txt`` and ``llms-full.txt``: the same pages for whoever reads with a model."""

from pathlib import Path

from sphinx.application import Sphinx

INTRODUCTION = """\
# chatmemory

> Conversation memory and long-term memory for AI agents, as typed effects in Python: what was said is kept and summarized,
> what somebody is and likes outlives the conversation, and years of chats with other tools are searched before a task.
"""


def write_texts(app: Sphinx, exception: Exception | None) -> None:
    """Write both beside the pages, once these are built."""
    if exception is not None or app.builder.name != "html":
        return
    environment = app.env
    pages = [name for name in _in_order(app) if not name.startswith("reference/made/python")]
    listed = [f"- [{environment.titles[name].astext()}]({name}.html)" for name in pages]
    out = Path(app.outdir)
    (out / "llms.txt").write_text("\n".join([INTRODUCTION, "## Pages", "", *listed, ""]), "utf-8")
    whole = [Path(environment.doc2path(name)).read_text("utf-8") for name in pages]
    (out / "llms-full.txt").write_text("\n\n".join([INTRODUCTION, *whole]), "utf-8")


def _in_order(app: Sphinx) -> list[str]:
    """Return the pages as the tables of contents lead to them."""
    found: list[str] = []
    waiting = [app.config.root_doc]
    while waiting:
        name = waiting.pop(0)
        found.append(name)
        waiting = [below for below in app.env.toctree_includes.get(name, ()) if below not in found] + waiting
    return found
