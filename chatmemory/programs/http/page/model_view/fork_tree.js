/**
 * `ForkTree`: what a conversation was forked from, and what was forked from it.
 */

import { html } from "../vendor/preact-htm.js";
import { getBranches } from "../api.js";
import { useAnswer } from "../asking.js";
import { hrefTo } from "../hash.js";
import { Badge, Loading, Note, ProblemNote } from "../pieces/pieces.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { modelWords } from "../words/model_view.js";

/** *query*: what is tried, which goes along to another branch. */
export function ForkTree({ id, query }) {
  const words = useWords(modelWords);
  const { value, problem, isLoading, retry } = useAnswer((options) => getBranches(id, options), [id]);
  return html`<section aria-label=${words.forks}>
    <h2>${words.forks}</h2>
    ${problem && html`<${ProblemNote} problem=${problem} retry=${retry} />`}
    ${isLoading && html`<${Loading} />`}
    ${value && !value.isWhole && html`<${Note} kind="warning">${words.forksPartial}<//>`}
    ${value && (value.conversations.length > 1
      ? html`<ul class="forks"><${Branch} name=${value.root} all=${value.conversations} id=${id} query=${query} /></ul>`
      : html`<p class="quiet">${words.forksNone}</p>`)}
  </section>`;
}

function Branch({ name, all, id, query }) {
  const words = useWords(modelWords);
  const { messageCount, updatedAt } = all.find(({ conversationId }) => conversationId === name);
  const below = all.filter(({ forkedFrom, conversationId }) => forkedFrom?.conversationId === name && conversationId !== all[0].conversationId);
  const isHere = name === id;
  return html`<li>
    <span class="choice-facts">
      <a class="choice-id" href=${hrefTo(["conversations", name], query)} aria-current=${isHere ? "true" : undefined}>${name}</a>
      ${isHere && html`<${Badge} kind="accent">${words.here}<//>`}
      <span>${words.count(messageCount)}</span><${Time} at=${updatedAt} />
    </span>
    ${below.length > 0 && html`<ul>
      ${below.map(({ conversationId }) => html`<${Branch} key=${conversationId} name=${conversationId} all=${all} id=${id} query=${query} />`)}
    </ul>`}
  </li>`;
}
