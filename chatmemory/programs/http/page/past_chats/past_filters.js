/**
 * `PastFilters`: what is looked for in past chats, in which project and of which tool.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { IconButton } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { pastWords } from "../words/past_chats.js";

/** *asked* is `{q, project, format}`; `onChange` gets what has changed of it. */
export function PastFilters({ asked, statistics, onChange }) {
  const words = useWords(pastWords);
  const [text, setText] = useState(asked.q ?? "");
  const search = (event) => {
    event.preventDefault();
    onChange({ q: text.trim() });
  };
  return html`<form class="past-filters" role="search" aria-label=${words.searchLabel} onSubmit=${search}>
    <div class="search-line">
      <input type="search" aria-label=${words.searchLabel} placeholder=${words.searchLabel} value=${text}
        onInput=${(event) => setText(event.target.value)} />
      <button type="submit">${words.search}</button>
    </div>
    <div class="filter-line two">
      <${Choice} label=${words.project} any=${words.anyProject} counts=${statistics.byProject} value=${asked.project}
        onChange=${(project) => onChange({ project })} />
      <${Choice} label=${words.format} any=${words.anyFormat} counts=${statistics.byFormat} value=${asked.format}
        onChange=${(format) => onChange({ format })} />
    </div>
    ${asked.q && html`<${IconButton} icon="back" label=${words.clearSearch} class="bare" onClick=${() => onChange({ q: "" })} />`}
  </form>`;
}

/** One of the names that occur, those of most turns first. */
function Choice({ label, any, counts, value = "", onChange }) {
  const names = Object.keys(counts)
    .filter(Boolean)
    .sort((one, other) => counts[other] - counts[one]);
  return html`<select aria-label=${label} value=${value} onChange=${(event) => onChange(event.target.value)}>
    <option value="">${any}</option>
    ${names.map((name) => html`<option key=${name} value=${name}>${name} (${counts[name]})</option>`)}
  </select>`;
}
