/**
 * Saving a memory: what both dialogs do that save one.
 */

import { useRef } from "../vendor/preact-htm.js";
import { remember, restoreMemory } from "../api.js";
import { hrefTo } from "../hash.js";
import { newKey } from "../idempotency.js";
import { notify } from "../pieces/notices.js";

/**
 * Gives a function that saves one new memory, `(memory, {app})`, and answers what became of it:
 * `{outcome, unembedded, reason}`, where the outcome is "stored", "duplicate" or "skipped".
 *
 * The same write keeps its key however often it is sent; another one gets another.
 */
export function useRemember() {
  const attempt = useRef({});
  return async (memory, { app } = {}) => {
    const text = JSON.stringify([memory, app]);
    if (attempt.current.text !== text) attempt.current = { text, key: newKey() };
    const report = await remember([memory], { app, attributes: "read", idempotencyKey: attempt.current.key });
    return { ...report, app, outcome: report.outcomes[0] };
  };
}

/**
 * Say that a memory is saved, in the words *stored*, or that it was there already; with the way to it.  What it has ended is
 * told too, and can be undone.  What was forgotten does not come back from the same message.
 */
export function notifySaved({ outcome, unembedded, reason, app }, { stored, words }) {
  const isNew = outcome.outcome === "stored";
  const isKeptOut = outcome.outcome === "skipped";
  const withoutVector = unembedded > 0 ? ` ${words.unembedded} ${reason ?? ""}` : "";
  const retired = outcome.retired ?? [];
  const ended = retired.length ? ` ${words.retired.replace("{n}", retired.length)}` : "";
  notify({
    kind: isNew ? "done" : "info",
    text: `${isNew ? stored : isKeptOut ? words.keptOut : words.duplicate}${ended}${withoutVector}`.trim(),
    action: retired.length ? { label: words.undo, run: () => undo(outcome, { app, words }) } : undefined,
    link: isKeptOut ? undefined : { label: words.open, href: hrefTo(["memories", isNew ? outcome.id : outcome.of]) },
  });
}

/** Make current again what a new memory has ended, instead of the new one. */
async function undo({ id, retired }, { app, words }) {
  try {
    for (const ended of retired) await restoreMemory(ended.id, id, { app });
    notify({ text: words.undone });
  } catch (problem) {
    notify({ kind: "failed", text: problem.message || words.notUndone });
  }
}
