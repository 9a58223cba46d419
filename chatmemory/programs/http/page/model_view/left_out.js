/**
 * `Memories`: which are in a context and which are not, each with the reason; `LeftOutMessages`: the messages that are not.
 */

import { html } from "../vendor/preact-htm.js";
import { hrefTo } from "../hash.js";
import { RecallSignals } from "../memories/recall_signals.js";
import { Badge, LongText, ProblemNote } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { modelWords } from "../words/model_view.js";

const SHOWN_CHARACTERS = 300;
const SHOWN_LINKS = 20;

export function Memories({ context: { recall, memoryIds, leftOut, memoryFailure } }) {
  const words = useWords(modelWords);
  const hits = recall?.hits ?? [];
  const passed = recall?.passedOver ?? [];
  const known = new Map([...hits, ...passed].map((one) => [one.memory.id, one]));
  const isIn = new Set(memoryIds);
  const without = leftOut.filter(({ kind }) => kind === "memory");
  return html`<section aria-label=${words.whyMemories}>
    <h2>${words.whyMemories}</h2>
    ${memoryFailure && html`<${ProblemNote} problem=${memoryFailure} />`}
    ${!recall && !memoryFailure && html`<p class="quiet">${words.recallOff}</p>`}
    ${recall && !known.size && html`<p class="quiet">${words.noMemories} ${words.noneYet}</p>`}
    ${recall && known.size > 0 && !isIn.size && html`<p class="quiet">${words.noMemories}</p>`}
    <ul class="why">
      ${hits.filter(({ memory }) => isIn.has(memory.id)).map((hit) => html`<${Memory} key=${hit.memory.id} memory=${hit.memory}
        badge=${html`<${Badge} kind="accent">${words.included}<//>`}><${RecallSignals} ...${hit} /><//>`)}
      ${without.map(({ id, reason }) => html`<${Memory} key=${id} memory=${known.get(id)?.memory}
        badge=${html`<${Badge}>${words.leftOut}<//>`}>
        <p class="small quiet">${words[`memory_${reason}`]}<${Similarity} of=${known.get(id)} /></p>
      <//>`)}
    </ul>
  </section>`;
}

function Similarity({ of }) {
  const words = useWords(modelWords);
  const similarity = of?.similarity ?? of?.signals?.similarity;
  return similarity == null ? null : ` · ${words.similarity} ${similarity.toFixed(2)}`;
}

function Memory({ memory, badge, children }) {
  if (!memory) return null;
  return html`<li class="card why-memory">
    <div class="row">${badge}<a class="small choice-id" href=${hrefTo(["memories", memory.id])}>${memory.key ?? memory.id}</a></div>
    <${LongText} text=${memory.content} most=${SHOWN_CHARACTERS} />
    ${children}
  </li>`;
}

export function LeftOutMessages({ context: { leftOut }, conversationId }) {
  const words = useWords(modelWords);
  const ids = new Map();
  for (const { kind, id, reason } of leftOut) {
    if (kind === "message") ids.set(reason, [...(ids.get(reason) ?? []), id]);
  }
  if (!ids.size) return null;
  return html`<section aria-label=${words.leftOutMessages}>
    <h2>${words.leftOutMessages}</h2>
    <ul class="why">
      ${[...ids].map(([reason, those]) => html`<li key=${reason} class="card">
        <p>${words[`message_${reason}`](those.length)}</p>
        <p class="small left-out-ids">
          ${those.slice(0, SHOWN_LINKS).map((id) => html`<a key=${id} href=${hrefTo(["conversations", conversationId], { message: id })}>${id}</a> `)}
          ${those.length > SHOWN_LINKS && words.more(those.length - SHOWN_LINKS)}
        </p>
      </li>`)}
    </ul>
  </section>`;
}
