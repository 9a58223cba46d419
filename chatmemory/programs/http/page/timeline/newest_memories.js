/**
 * The newest memories, page after page, up to a bound.
 */

import { listMemories } from "../api.js";

const PAGE = 200;

/**
 * Gives `{items, next}`, at most *most* memories from behind the cursor *after*; *next* is null at the end.
 * *onProgress* hears how many there are so far.
 */
export async function newestMemories(most, { after, signal, onProgress }) {
  const items = [];
  let next = after;
  do {
    const page = await listMemories({ limit: Math.min(PAGE, most - items.length), after: next, signal });
    items.push(...page.memories);
    next = page.next;
    onProgress(items.length);
  } while (next && items.length < most);
  return { items, next };
}
