/**
 * The newest memories, page after page, up to a bound.
 */

import { listMemories } from "./api.js";

const PAGE = 200;

/** Gives `{memories, isAll}`; *onProgress* hears how many there are so far. */
export async function newestMemories(most, { signal, onProgress }) {
  const memories = [];
  let after;
  do {
    const page = await listMemories({ limit: Math.min(PAGE, most - memories.length), after, signal });
    memories.push(...page.memories);
    after = page.next;
    onProgress(memories.length);
  } while (after && memories.length < most);
  return { memories, isAll: !after };
}
