/**
 * The memory page: what is remembered, newest first, filtered and searched; and one memory alone at `#/memories/ID`.
 *
 * Search and filters stand in the address, so that going back and loading again keep them.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { getMemory, listMemories, recall } from "../api.js";
import { useAnswer, usePages } from "../asking.js";
import { goTo, hrefTo } from "../hash.js";
import { Empty, Heading, IconButton, Loading, PagesEnd, ProblemNote, useTitle } from "../pieces/pieces.js";
import { RovingList } from "../pieces/roving.js";
import { HowFound } from "../pieces/search.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { memoryWords } from "../words/memories.js";
import { ForgetMany } from "./forget_many.js";
import { forgotten, removals } from "./forgetting.js";
import { MemoryCard } from "./memory_card.js";
import { NewMemory } from "./memory_dialogs.js";
import { MemoryFacets } from "./memory_facets.js";
import { ENDED, MemoryFilters } from "./memory_filters.js";
import { MemoryHistory } from "./memory_history.js";
import { RecallSignals } from "./recall_signals.js";

const PAGE = 50;

export function Memories({ path, query }) {
  const canChange = !useServer()?.readOnly; // as long as that is not known, the server has the say
  const View = path.length ? OneMemory : AllMemories;
  return html`<${View} key=${path[0]} id=${path[0]} query=${query} canChange=${canChange} />`;
}

function AllMemories({ query, canChange }) {
  const words = useWords(memoryWords);
  const [isWriting, setWriting] = useState(false);
  const [isForgetting, setForgetting] = useState(false);
  const [written, setWritten] = useState(0);
  useTitle(words.title);
  const View = query.query ? Found : Newest;
  return html`<div class="page">
    <div class="page-head">
      <${Heading}>${words.title}<//>
      ${canChange &&
      html`<div class="page-actions">
        <${IconButton} icon="trash" label=${words.forgetMany} onClick=${() => setForgetting(true)} />
        <${IconButton} icon="edit" label=${words.newMemory} onClick=${() => setWriting(true)} />
      </div>`}
    </div>
    <${MemoryFilters} query=${query} onChange=${(changes, how) => goTo(["memories"], { ...query, ...changes }, how)} />
    <${View} query=${query} canChange=${canChange} written=${written} />
    ${isWriting &&
    html`<${NewMemory}
      app=${query.app}
      onSaved=${() => setWritten(written + 1)}
      onClose=${() => setWriting(false)}
    />`}
    ${isForgetting &&
    html`<${ForgetMany}
      app=${query.app}
      onForgotten=${() => setWritten(written + 1)}
      onClose=${() => setForgetting(false)}
    />`}
  </div>`;
}

/** What is true now, or true no longer, newest first; and how many there are of each kind. */
function Newest({ query, canChange, written }) {
  const words = useWords(memoryWords);
  const { type: memoryType, category, source, state, app } = query;
  const [changed, setChanged] = useState(0);
  const removed = removals.use();
  const filters = { memoryType, category, source, superseded: state === ENDED ? true : undefined, app };
  const pages = usePages(
    (after, { signal }) => listMemories({ limit: PAGE, after, ...filters, signal }).then(asPage),
    [memoryType, category, source, state, app, written],
  );
  const change = (memory) => {
    replaceIn(pages)(memory);
    setChanged(changed + 1); // it may be counted elsewhere now
  };
  const choose = (changes) => goTo(["memories"], { ...query, ...changes }, { replace: true });
  const isFiltered = Boolean(memoryType || category || source || state || app);
  return html`<section>
    <h2 class="visually-hidden">${words.list}</h2>
    <${MemoryFacets} filters=${filters} query=${query} onChoose=${choose} round=${`${written} ${changed} ${removed}`} />
    <${MemoryList} memories=${pages.items} onChange=${change} canChange=${canChange} />
    ${pages.isEmpty && html`<${Empty} title=${isFiltered ? words.nothingFits : words.nothing} />`}
    <${PagesEnd} pages=${pages} />
  </section>`;
}

/** What belongs to a question: long-term memories by recall, short-term ones by the text itself. */
function Found({ query, canChange, written }) {
  const both = query.type === undefined || query.type === "";
  const own = { query, canChange, written };
  return html`
    ${(both || query.type === "long_term") && html`<${Recalled} ...${own} />`}
    ${(both || query.type === "short_term") && html`<${Containing} ...${own} />`}
  `;
}

function Recalled({ query: { query, category, app }, canChange, written }) {
  const words = useWords(memoryWords);
  const answer = useAnswer(
    ({ signal }) => recall({ query, limit: PAGE, category: category || undefined }, { app, signal }),
    [query, category, app, written],
  );
  const replace = (memory) => {
    const replaced = (hit) => (hit.memory.id === memory.id ? { ...hit, memory } : hit);
    answer.change((found) => ({ ...found, hits: found.hits.map(replaced) }));
  };
  return html`<section class="found">
    <h2>${words.recalled}</h2>
    ${answer.problem && html`<${ProblemNote} problem=${answer.problem} retry=${answer.retry} />`}
    ${answer.isLoading && html`<${Loading} />`}
    ${answer.value &&
    html`<${HowFound} found=${answer.value} />
      <${HitList} hits=${answer.value.hits} onChange=${replace} canChange=${canChange} />
      ${answer.value.hits.length === 0 && html`<p>${words.nothingRecalled}</p>`}`}
  </section>`;
}

function Containing({ query: { query, category, app }, canChange, written }) {
  const words = useWords(memoryWords);
  const pages = usePages(
    (after, { signal }) =>
      listMemories({
        limit: PAGE, after, memoryType: "short_term", containing: query, category, app, signal,
      }).then(asPage),
    [query, category, app, written],
  );
  return html`<section class="found">
    <h2>${words.containing}</h2>
    <${MemoryList} memories=${pages.items} onChange=${replaceIn(pages)} canChange=${canChange} />
    ${pages.isEmpty && html`<p>${words.nothingContains}</p>`}
    <${PagesEnd} pages=${pages} />
  </section>`;
}

function OneMemory({ id, canChange }) {
  const words = useWords(memoryWords);
  const answer = useAnswer(({ signal }) => getMemory(id, { signal }), [id]);
  const isForgotten = forgotten.use().has(id);
  useTitle(words.oneMemory);
  return html`<div class="page">
    <p><a href=${hrefTo(["memories"])}>${words.allMemories}</a></p>
    <${Heading}>${words.oneMemory}<//>
    ${answer.problem && html`<${ProblemNote} problem=${answer.problem} retry=${answer.retry} />`}
    ${answer.isLoading && html`<${Loading} />`}
    ${answer.value &&
    (isForgotten
      ? html`<${Empty} title=${words.isForgotten} />`
      : html`<ul class="memories">
          <li>
            <${MemoryCard}
              memory=${answer.value}
              onChange=${(memory) => answer.change(() => memory)}
              canChange=${canChange}
              level=${2}
              isOpen
            />
          </li>
        </ul>
        <${MemoryHistory}
          memory=${answer.value}
          onChange=${(memory) => answer.change(() => memory)}
          canChange=${canChange}
        />`)}
  </div>`;
}

function MemoryList({ memories, ...rest }) {
  return html`<${HitList} hits=${memories.map((memory) => ({ memory }))} ...${rest} />`;
}

function HitList({ hits, onChange, canChange }) {
  const gone = forgotten.use();
  const shown = hits.filter(({ memory }) => !gone.has(memory.id));
  return shown.length > 0 && html`<${RovingList} class="memories" items=".memory">
    ${shown.map(
      (hit) => html`<li key=${hit.memory.id}>
        <${MemoryCard} memory=${hit.memory} onChange=${onChange} canChange=${canChange}>
          ${hit.signals && html`<${RecallSignals} score=${hit.score} signals=${hit.signals} />`}
        <//>
      </li>`,
    )}
  <//>`;
}
const asPage = ({ memories, next }) => ({ items: memories, next });

const replaceIn = (pages) => (memory) =>
  pages.change((memories) => memories.map((other) => (other.id === memory.id ? memory : other)));
