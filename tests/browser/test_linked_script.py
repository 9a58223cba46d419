"""Modules that were linked into one do in a browser what they did apart."""

from typing import Final

from chatmemory.programs.http.linked_modules import linked
from tests.browser.visiting import Visits

APART: Final = {
    "/page/app.js": """/** The entry. */
import {
  Counter,
  counted,
} from "./counting/counter.js";
import { shout } from "./library.js";

const own = "entry";
globalThis.found = [own, counted().own, new Counter().count(), shout("好")];
""",
    "/page/counting/counter.js": """import { shout } from "../library.js";
const own = "counter"; // as the entry has one

export const STEP = 2;
export class Counter {
  count() {
    return shout(String(STEP));
  }
}
export function counted() {
  return { own: declared() };
}
function declared() {
  return own;
}
export async function later() {}
""",
    "/page/library.js": "function e(n){return `${n}!`}var own=0;export{e as shout,own};\n",
}
RUN: Final = (
    "async (text) => { await import(`data:text/javascript,${encodeURIComponent(text)}`); return found; }"
)


def test_what_was_linked_runs_as_it_did_apart(visit: Visits) -> None:
    assert visit().page.evaluate(RUN, linked(APART, "/page/app.js")) == ["entry", "counter", "2!", "好!"]
