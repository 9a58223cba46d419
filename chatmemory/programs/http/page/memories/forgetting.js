/**
 * Forgetting with a way back: a memory disappears at once, and is removed when nobody has undone it in time.
 *
 * What waits to be removed outlives the view, and is removed as well when the page is left.
 */

import { forgetMemory } from "../api.js";
import { Observable } from "../observable.js";
import { notify } from "../pieces/notices.js";

const UNDO_SECONDS = 8;

/** The ids of the memories that are forgotten, or about to be. */
export const forgotten = new Observable(new Set());

/** How many memories were removed since the page was loaded: what was counted before is to be counted again. */
export const removals = new Observable(0);

/** For each memory that waits: the function that removes it. */
const waiting = new Map();

/**
 * Let the memory disappear, say so in `words`, and remove it after a while.
 *
 * `onProblem` hears why it could not be removed; it is there again by then.
 */
export function forget(memory, { words, onProblem }) {
  hide(memory.id);
  const remove = async ({ keepalive = false } = {}) => {
    waiting.delete(memory.id);
    try {
      await forgetMemory(memory.id, { keepalive });
      removals.value += 1;
    } catch (problem) {
      if (problem.status === 404) return; // somebody else was faster: it is gone, as wanted
      show(memory.id);
      onProblem(problem);
    }
  };
  const undo = () => {
    if (waiting.delete(memory.id)) show(memory.id); // otherwise it is gone already
  };
  waiting.set(memory.id, remove);
  notify({
    text: words.forgotten(memory),
    kind: "info",
    action: { label: words.undo, run: undo },
    seconds: UNDO_SECONDS,
    onGone: () => waiting.get(memory.id)?.(),
  });
}

// `pagehide` comes on every way out, also where `unload` does not.
addEventListener("pagehide", () => {
  for (const remove of [...waiting.values()]) remove({ keepalive: true });
});

function hide(id) {
  forgotten.value = new Set(forgotten.value).add(id);
}

function show(id) {
  forgotten.value = new Set([...forgotten.value].filter((other) => other !== id));
}
