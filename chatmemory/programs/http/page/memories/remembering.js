/**
 * Saving a memory: what both dialogs do that save one.
 */

import { useRef } from "../vendor/preact-htm.js";
import { remember } from "../api.js";
import { hrefTo } from "../hash.js";
import { newKey } from "../idempotency.js";
import { notify } from "../pieces/notices.js";

/**
 * Gives a function that saves one new memory, `(memory, {app, signal})`, and answers what became of it:
 * `{outcome, unembedded, reason}`, where the outcome is "stored" or "duplicate".
 *
 * The same write keeps its key however often it is sent; another one gets another.
 */
export function useRemember() {
  const attempt = useRef({});
  return async (memory, { app, signal } = {}) => {
    const text = JSON.stringify([memory, app]);
    if (attempt.current.text !== text) attempt.current = { text, key: newKey() };
    const report = await remember([memory], { app, signal, idempotencyKey: attempt.current.key });
    return { ...report, outcome: report.outcomes[0] };
  };
}

/** Say that a memory is saved, in the words *stored*, or that it was there already; with the way to it. */
export function notifySaved({ outcome, unembedded, reason }, { stored, words }) {
  const isNew = outcome.outcome === "stored";
  const withoutVector = unembedded > 0 ? ` ${words.unembedded} ${reason ?? ""}` : "";
  notify({
    kind: isNew ? "done" : "info",
    text: `${isNew ? stored : words.duplicate}${withoutVector}`.trim(),
    link: { label: words.open, href: hrefTo(["memories", isNew ? outcome.id : outcome.of]) },
  });
}
