/**
 * `Trial`: what the user would say next, and the settings and the time to try it with.
 */

import { html, useLayoutEffect, useState } from "../vendor/preact-htm.js";
import { Field, IconButton, Select } from "../pieces/pieces.js";
import { said } from "../pieces/time.js";
import { useWords } from "../words.js";
import { modelWords } from "../words/model_view.js";

const STRATEGIES = ["none", "summarize", "token_budget"];
const STEPS = 200; // of the slider, from the first message to now
const MOST_CHARACTERS = 20_000;

/** *query*: what the address says; `onChange` gets what changes of it. */
export function Trial({ query, conversation, onChange }) {
  const words = useWords(modelWords);
  const [typed, setTyped] = useState(query.say ?? "");
  useLayoutEffect(() => setTyped(query.say ?? ""), [query.say]);
  const show = (event) => {
    event.preventDefault();
    onChange({ say: typed.trim() });
  };
  const number = (name, label, least = 1) => html`<${NumberField} label=${label} value=${query[name]} least=${least}
    onChange=${(value) => onChange({ [name]: value })} />`;
  return html`<form class="trial" aria-label=${words.options} onSubmit=${show}>
    <${Field} label=${words.say}>
      ${(own) => html`<textarea ...${own} rows="2" maxlength=${MOST_CHARACTERS} value=${typed}
        onInput=${(event) => setTyped(event.target.value)}></textarea>`}
    <//>
    <div class="trial-fields" role="group" aria-label=${words.options}>
      <${Field} label=${words.strategy}>
        ${(own) => html`<${Select} ...${own} value=${query.strategy} any=${words.strategy_}
          options=${STRATEGIES.map((name) => [name, words[`strategy_${name}`]])}
          onChoose=${(strategy) => onChange({ strategy, summarizeEveryN: "", keepLast: "", tokenBudget: "" })} />`}
      <//>
      ${query.strategy === "summarize" && number("summarizeEveryN", words.everyN)}
      ${query.strategy === "token_budget" && number("tokenBudget", words.strategyBudget)}
      ${["summarize", "token_budget"].includes(query.strategy) && number("keepLast", words.keepLast, 0)}
      ${number("tokens", words.tokens)}
      ${number("windowMessages", words.windowMessages, 0)}
      <${AsOf} conversation=${conversation} value=${query.asOf} onChange=${(asOf) => onChange({ asOf })} />
    </div>
    <p class="row"><${IconButton} icon="eye" class="main" label=${words.show} type="submit" /></p>
  </form>`;
}

/** A number, or nothing for what is configured; it counts when the field is left, or at Enter. */
function NumberField({ label, value = "", least, onChange }) {
  const words = useWords(modelWords);
  return html`<${Field} label=${label}>
    ${(own) => html`<input ...${own} type="number" inputmode="numeric" min=${least} max="1000000" step="1" value=${value}
      placeholder=${words.asConfigured} onChange=${(event) => event.target.checkValidity() && onChange(event.target.value)} />`}
  <//>`;
}

/** The slider of the time: its right end is now, which goes on. */
function AsOf({ conversation, value, onChange }) {
  const words = useWords(modelWords);
  const [begin] = useState(() => Date.parse(conversation.createdAt) + 1); // the store counts microseconds
  const [end] = useState(() => Math.max(Date.now(), begin + STEPS));
  const instantAt = (step) => (step >= STEPS ? "" : new Date(begin + ((end - begin) * step) / STEPS).toISOString());
  const step = value ? Math.round(((Date.parse(value) - begin) / (end - begin)) * STEPS) : STEPS;
  const [moved, setMoved] = useState(null); // while it is being moved
  const at = moved ?? step;
  const shown = moved === null ? value : instantAt(moved);
  const text = shown ? said(new Date(shown), { dateStyle: "medium", timeStyle: "medium" }) : words.now;
  const done = (event) => {
    setMoved(null);
    onChange(instantAt(Number(event.target.value)));
  };
  return html`<div class="as-of"><${Field} label=${`${words.asOf}: ${text}`}>
    ${(own) => html`<input ...${own} type="range" min="0" max=${STEPS} step="1" value=${at} aria-valuetext=${text}
      onInput=${(event) => setMoved(Number(event.target.value))} onChange=${done} />`}
  <//></div>`;
}
