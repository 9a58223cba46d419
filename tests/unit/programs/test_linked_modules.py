"""``linked`` refuses what it does not understand; what it makes runs in ``tests/browser``."""

from graphlib import CycleError

import pytest

from chatmemory.programs.http.linked_modules import UnknownStatementError, linked

ENTRY = "/page/app.js"


def test_a_statement_that_it_does_not_know_is_refused() -> None:
    for statement in (
        'import "./other.js";',
        'import other from "./other.js";',
        'import * as other from "./other.js";',
        'import { a } from "elsewhere";',
        'import { a as b } from "./other.js";',
        'import { missing } from "./other.js";',
        "export default 1;",
        "export let changes = 1;",
        'export * from "./other.js";',
        'export { a } from "./other.js";\nconst more = 1;',
        'const other = await import("./other.js");',
        "const here = import.meta.url;",
    ):
        modules = {ENTRY: f"{statement}\n", "/page/other.js": "export const a = 1;\n"}
        with pytest.raises(UnknownStatementError, match=ENTRY):
            linked(modules, ENTRY)
    in_a_circle = {
        ENTRY: 'import { b } from "./b.js";\nexport const a = 1;\n',
        "/page/b.js": 'import { a } from "./app.js";\nexport const b = 1;\n',
    }
    with pytest.raises(CycleError):
        linked(in_a_circle, ENTRY)


def test_what_nobody_imports_is_left_out() -> None:
    text = linked({ENTRY: "run();\n", "/page/unused.js": "export const unused = 1;\n"}, ENTRY)
    assert "run();" in text
    assert "unused" not in text
