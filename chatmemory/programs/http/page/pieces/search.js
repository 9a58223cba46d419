/**
 * A search and what it found: `SearchForm`, `HowFound`, and `Signals` of what is found.
 */

import { html, useLayoutEffect, useState } from "../vendor/preact-htm.js";
import { useWords } from "../words.js";
import { searchWords } from "../words/search.js";
import { IconButton } from "./pieces.js";

const MOST_CHARACTERS = 1000;
const USUAL_REASON = "by words and vectors"; // what the mode says already

/** A field for the text, and below it the filters, *children*; *value* is what is searched for now. */
export function SearchForm({ label, value = "", onSearch, children }) {
  const words = useWords(searchWords);
  const [typed, setTyped] = useState(value);
  useLayoutEffect(() => setTyped(value), [value]); // going back changes the address under the field
  const search = (event) => {
    event.preventDefault();
    onSearch(typed.trim());
  };
  return html`<form class="search" role="search" aria-label=${label} onSubmit=${search}>
    <div class="search-line">
      <input
        type="search"
        aria-label=${label}
        placeholder=${label}
        maxlength=${MOST_CHARACTERS}
        value=${typed}
        onInput=${(event) => setTyped(event.target.value)}
      />
      <${IconButton} icon="search" label=${words.search} type="submit" />
      ${value && html`<${IconButton} icon="close" label=${words.clear} isBare onClick=${() => onSearch("")} />`}
    </div>
    ${children && html`<div class="filter-line" role="group" aria-label=${words.filters}>${children}</div>`}
  </form>`;
}

/** How it was searched, and why that way where the server says more than the usual; *children*: what came of it. */
export function HowFound({ found: { mode, reason }, children }) {
  const words = useWords(searchWords);
  return html`<p class="how-found" role="status">
    ${children}<strong>${words[`mode_${mode}`]}</strong>${reason !== USUAL_REASON && html` · <span lang="en">${reason}</span>`}
  </p>`;
}

/** Why something was found: its *score* as text, and each `Signal`. */
export function Signals({ score, children }) {
  const words = useWords(searchWords);
  return html`<div class="signals" role="group" aria-label=${words.signals}><dl>
    <div class="signal strong"><dt>${words.score}</dt><dd>${score}</dd></div>
    ${children}
  </dl></div>`;
}

/**
 * One signal between 0 and 1, as a small meter with its number.  Below 0 the meter is empty, and the number says so; null
 * has none, and *missing* stands there.
 */
export function Signal({ name, value, missing }) {
  return html`<div class="signal">
    <dt>${name}</dt>
    <dd>${value === null ? missing : html`<${Meter} value=${value} /><span>${value.toFixed(2)}</span>`}</dd>
  </div>`;
}

/** For the eye: the number stands beside it.  Not `<meter>`, which each browser dresses in its own way. */
export function Meter({ value }) {
  return html`<svg class="meter" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
    <rect class="meter-track" width="100" height="12" />
    <rect class="meter-value" width=${100 * Math.min(1, Math.max(0, value))} height="12" />
  </svg>`;
}
