/**
 * `MemoryFacets`: how many memories the filters leave, and how they divide; each count leads to its memories.
 */

import { html } from "../vendor/preact-htm.js";
import { memoryFacets } from "../api.js";
import { useAnswer } from "../asking.js";
import { ProblemNote } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { memoryWords } from "../words/memories.js";

/** *filters* are those of `listMemories`; *onChoose* gets what a count changes of the query; *round* grows with each change. */
export function MemoryFacets({ filters, query, onChoose, round }) {
  const words = useWords(memoryWords);
  const { value, problem, retry } = useAnswer(
    ({ signal }) => memoryFacets({ ...filters, signal }),
    [JSON.stringify(filters), round],
  );
  if (problem) return html`<${ProblemNote} problem=${problem} retry=${retry} />`;
  if (!value || value.total === 0) return null;
  const own = { query, onChoose };
  return html`<div class="facets" role="group" aria-label=${words.facets}>
    <p role="status"><strong>${words.total(value.total)}</strong></p>
    <${Facet} label=${words.category} name="category" counts=${value.categories} ...${own} />
    <${Facet} label=${words.memoryType} name="type" counts=${value.memoryTypes} ...${own} />
    <${Facet} label=${words.source} name="source" counts=${value.sources} ...${own} />
  </div>`;
}

function Facet({ label, name, counts, query, onChoose }) {
  const words = useWords(memoryWords);
  // Nothing is listed by the absence of a category, so that count leads nowhere.
  return html`<dl class="facet">
    <dt>${label}</dt>
    ${counts.map(({ value, count }) => html`<dd key=${value}>
      ${value === null
        ? html`<span class="quiet">${words.none} ${count}</span>`
        : html`<button type="button" class="bare" aria-pressed=${query[name] === value}
            onClick=${() => onChoose({ [name]: query[name] === value ? "" : value })}>${words[value]} ${count}</button>`}
    </dd>`)}
  </dl>`;
}
