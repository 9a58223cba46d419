"""What a build of the documentation holds, printed at its end."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from reference_pages import public_names


def print_counts(app: Sphinx, exception: Exception | None) -> None:
    """Print pages, words, programs and public names; a public name without an entry ends the build."""
    if exception is not None or app.builder.name != "html":
        return
    pages = sorted(app.env.found_docs)
    texts = [Path(app.env.doc2path(name)).read_text("utf-8") for name in pages]
    words = sum(len(re.findall(r"\w+", text)) for text in texts)
    programs = sum(len(re.findall(r"^```python$", text, re.MULTILINE)) for text in texts)
    names = [name for room in public_names().values() for name in room]
    described = set(app.env.get_domain("py").objects)  # type: ignore[attr-defined]  the domain of Python has them
    missing = [name for name in names if name not in described]
    print(  # noqa: T201  a build tells
        f"{len(pages)} pages, {words} words, {programs} programs (each runs in make test or make test-integrations), "
        f"{len(names) - len(missing)} of {len(names)} public names, 0 dead links (each is an error)"
    )
    if missing:
        raise SphinxError(f"public names without an entry: {', '.join(missing)}")
