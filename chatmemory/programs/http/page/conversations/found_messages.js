/**
 * `FoundMessages`: what a search has found, in all conversations or in one, with the words marked.
 */

import { html } from "../vendor/preact-htm.js";
import { searchMessages } from "../api.js";
import { usePages } from "../asking.js";
import { hrefTo } from "../hash.js";
import { Marked } from "../pieces/marked.js";
import { Empty, PagesEnd } from "../pieces/pieces.js";
import { RovingList } from "../pieces/roving.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";

const PAGE = 50;

/** *asked*: see `ConversationFilters`; *wanted*: the message that is shown; *conversationId*: where the search is narrowed to it. */
export function FoundMessages({ asked, wanted, conversationId }) {
  const words = useWords(conversationWords);
  const { q, since, until, app } = asked;
  const pages = usePages(async (after, { signal }) => {
    const search = { query: q, conversationId, since: dayOf(since), until: dayOf(until, 1), after, limit: PAGE };
    const { hits, next } = await searchMessages(search, { app, signal });
    return { items: hits, next };
  }, [q, since, until, app, conversationId]);
  if (pages.isEmpty) return html`<${Empty} title=${words.foundNothing}><p>${words.foundNothingWhy}</p><//>`;
  const count = pages.items.length;
  const kept = conversationId === undefined ? asked : {};
  return html`
    ${count > 0 && html`<p class="how-found" role="status">${pages.hasMore ? words.foundMore(count) : words.found(count)}</p>`}
    <${RovingList} class="choices" items="li > a">
      ${pages.items.map((hit) => html`<${Hit} key=${`${hit.conversationId} ${hit.messageId}`} hit=${hit} query=${q} kept=${kept}
        isAlone=${conversationId !== undefined} isChosen=${hit.messageId === wanted} />`)}
    <//>
    <${PagesEnd} pages=${pages} label=${words.searchFurther} />
  `;
}

function Hit({ hit, query, kept, isAlone, isChosen }) {
  const words = useWords(conversationWords);
  const { conversationId, messageId, role, seq, timestamp, excerpt } = hit;
  const href = hrefTo(["conversations", conversationId], { ...kept, message: messageId });
  return html`<li><a href=${href} aria-current=${isChosen ? "true" : undefined}>
    <span class="choice-title hit-text" dir="auto"><${Marked} text=${excerpt} query=${query} /></span>
    <span class="choice-facts">
      <span>${words[role] ?? role} #${seq}</span>
      ${!isAlone && html`<span class="choice-id">${conversationId}</span>`}
      <${Time} at=${timestamp} />
    </span>
  </a></li>`;
}

/** The beginning of a day here, *more* days later, as the API takes it; nothing for no day. */
function dayOf(text, more = 0) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text ?? "")) return undefined;
  const [year, month, day] = text.split("-").map(Number);
  return new Date(year, month - 1, day + more).toISOString();
}
