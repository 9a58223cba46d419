/**
 * `Origin`: the way back from a memory to where it was said, where there is one.
 */

import { html } from "../vendor/preact-htm.js";
import { hrefTo } from "../hash.js";
import { useWords } from "../words.js";
import { memoryWords } from "../words/memories.js";

const TURN = /#(\d+)$/u;

/** The place that the memory comes from, `{kind, path, query}`; null when it names none that could be opened. */
function originOf({ sessionId, provenance }) {
  if (!sessionId) return null;
  if (provenance.path) {
    const turn = TURN.exec(provenance.path)?.[1];
    return { kind: "fromPastChat", path: ["past-chats", sessionId], query: { turn } };
  }
  const [message] = provenance.messageIds;
  return { kind: message ? "fromMessage" : "fromConversation", path: ["conversations", sessionId], query: { message } };
}

export function Origin({ memory }) {
  const words = useWords(memoryWords);
  const origin = originOf(memory);
  return origin && html`<a href=${hrefTo(origin.path, origin.query)}>${words[origin.kind]}</a>`;
}
