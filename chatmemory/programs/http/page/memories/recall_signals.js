/**
 * `RecallSignals`: why a memory was recalled, as small meters with their numbers.
 *
 * A meter shows what lies between 0 and 1; the age has no end, so it is a number alone.
 */

import { html } from "../vendor/preact-htm.js";
import { useWords } from "../words.js";
import { memoryWords } from "../words/memories.js";

export function RecallSignals({ score, signals }) {
  const words = useWords(memoryWords);
  return html`<div class="signals" role="group" aria-label=${words.signals}><dl>
    <${Signal} name=${words.score} value=${score} isStrong />
    <${Signal} name=${words.similarity} value=${signals.similarity} missing=${words.noVector} />
    <${Signal} name=${words.lexical} value=${signals.lexical} />
    <${Signal} name=${words.decay} value=${signals.decay} />
    <div class="signal"><dt>${words.age}</dt><dd>${words.ageDays(rounded(signals.ageDays))}</dd></div>
  </dl></div>`;
}

/** One signal; a similarity below 0 has an empty meter, and its number says so. */
export function Signal({ name, value, missing, isStrong = false }) {
  const isMissing = value === null;
  return html`<div class=${isStrong ? "signal strong" : "signal"}>
    <dt>${name}</dt>
    <dd>
      ${isMissing
        ? missing
        : html`<${Meter} value=${value} />
            <span>${value.toFixed(2)}</span>`}
    </dd>
  </div>`;
}

/** For the eye: the number stands beside it.  Not `<meter>`, which each browser dresses in its own way. */
function Meter({ value }) {
  return html`<svg class="meter" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
    <rect class="meter-track" width="100" height="12" />
    <rect class="meter-value" width=${100 * Math.min(1, Math.max(0, value))} height="12" />
  </svg>`;
}

const rounded = (days) => (days < 10 ? Number(days.toFixed(1)) : Math.round(days));
