/**
 * `MemoryFilters`: the search of the memory page, with its filters.
 */

import { html, useLayoutEffect, useState } from "../vendor/preact-htm.js";
import { Field, Select } from "../pieces/pieces.js";
import { SearchForm } from "../pieces/search.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { CATEGORIES, SOURCES, TYPES } from "../words/fields.js";
import { memoryWords } from "../words/memories.js";

/** What `state` is in the address of a list of memories that are true no longer. */
export const ENDED = "ended";

/** *onChange* gets what changed of the query, and how to go there: a search is a step of its own, a filter is none. */
export function MemoryFilters({ query, onChange }) {
  const words = useWords(memoryWords);
  const isInOneApp = Boolean(useServer()?.namespace.app); // there is nothing to choose
  const [app, setApp] = useState(query.app ?? "");
  useLayoutEffect(() => setApp(query.app ?? ""), [query.app]);
  const filter = (changes) => onChange(changes, { replace: true });
  const named = (names) => names.map((name) => [name, words[name]]);
  // The app is typed: whoever presses Enter there means it too.
  const search = (text) => onChange({ query: text, app: app.trim() });
  return html`<${SearchForm} label=${words.searchLabel} value=${query.query} onSearch=${search}>
    <${Field} label=${words.memoryType}>
      ${(own) => html`<${Select} ...${own} value=${query.type} any=${words.anyType} options=${named(TYPES)}
        onChoose=${(type) => filter({ type })} />`}
    <//>
    <${Field} label=${words.category}>
      ${(own) => html`<${Select} ...${own} value=${query.category} any=${words.anyCategory} options=${named(CATEGORIES)}
        onChoose=${(category) => filter({ category })} />`}
    <//>
    ${!query.query && html`
      <${Field} label=${words.source}>
        ${(own) => html`<${Select} ...${own} value=${query.source} any=${words.anySource} options=${named(SOURCES)}
          onChoose=${(source) => filter({ source })} />`}
      <//>
      <${Field} label=${words.state}>
        ${(own) => html`<${Select} ...${own} value=${query.state} any=${words.current} options=${named([ENDED])}
          onChoose=${(state) => filter({ state })} />`}
      <//>
    `}
    ${!isInOneApp &&
    html`<${Field} label=${words.app}>
      ${(own) => html`<input
        ...${own}
        type="text"
        maxlength="512"
        placeholder=${words.anyApp}
        value=${app}
        onInput=${(event) => setApp(event.target.value)}
        onChange=${(event) => filter({ app: event.target.value.trim() })}
      />`}
    <//>`}
  <//>`;
}
