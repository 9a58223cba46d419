/**
 * `MemoryFilters`: the search, and what narrows it: type, category, app.
 */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { Field, IconButton } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { CATEGORIES } from "../words/fields.js";
import { memoryWords } from "../words/memories.js";

const TYPES = ["long_term", "short_term"];

/** *onChange* gets what changed of the query, and how to go there: a search is a step of its own, a filter is none. */
export function MemoryFilters({ query, onChange }) {
  const words = useWords(memoryWords);
  const [typed, setTyped] = useState(query.query ?? "");
  const [app, setApp] = useState(query.app ?? "");
  // Going back changes the address under the fields.
  useEffect(() => setTyped(query.query ?? ""), [query.query]);
  useEffect(() => setApp(query.app ?? ""), [query.app]);
  const filter = (changes) => onChange(changes, { replace: true });
  const search = (event) => {
    event.preventDefault();
    onChange({ query: typed.trim(), app: app.trim() });
  };
  const clear = () => {
    setTyped("");
    onChange({ query: "" });
  };
  return html`<form class="memory-filters" role="search" onSubmit=${search}>
    <div class="search-line">
      <input
        type="search"
        aria-label=${words.searchLabel}
        placeholder=${words.searchLabel}
        maxlength="1000"
        value=${typed}
        onInput=${(event) => setTyped(event.target.value)}
      />
      <${IconButton} icon="search" label=${words.search} type="submit" />
      ${query.query && html`<${IconButton} icon="close" label=${words.clearSearch} onClick=${clear} />`}
    </div>
    <div class="filter-line" role="group" aria-label=${words.filters}>
      <${Choice}
        label=${words.memoryType}
        any=${words.anyType}
        choices=${TYPES}
        value=${query.type}
        onChange=${(type) => filter({ type })}
      />
      <${Choice}
        label=${words.category}
        any=${words.anyCategory}
        choices=${CATEGORIES}
        value=${query.category}
        onChange=${(category) => filter({ category })}
      />
      <${Field} label=${words.app}>
        ${(own) => html`<input
          ...${own}
          type="text"
          maxlength="512"
          placeholder=${words.anyApp}
          value=${app}
          onInput=${(event) => setApp(event.target.value)}
          onChange=${(event) => filter({ app: event.target.value.trim() })}
        />`}
      <//>
    </div>
  </form>`;
}

function Choice({ label, any, choices, value = "", onChange }) {
  const words = useWords(memoryWords);
  return html`<${Field} label=${label}>
    ${(own) => html`<select ...${own} value=${value} onChange=${(event) => onChange(event.target.value)}>
      <option value="">${any}</option>
      ${choices.map((choice) => html`<option value=${choice}>${words[choice]}</option>`)}
    </select>`}
  <//>`;
}
