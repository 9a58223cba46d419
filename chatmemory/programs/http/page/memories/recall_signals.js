/**
 * `RecallSignals`: why a memory was recalled.  Its age has no end, so it is a number alone.
 */

import { html } from "../vendor/preact-htm.js";
import { Meter, Signal, Signals } from "../pieces/search.js";
import { useWords } from "../words.js";
import { memoryWords } from "../words/memories.js";
import { searchWords } from "../words/search.js";

export function RecallSignals({ score, signals: { similarity, lexical, decay, ageDays } }) {
  const words = useWords(memoryWords);
  const { semantic: meaning, lexical: byWords } = useWords(searchWords);
  return html`<${Signals} score=${html`<${Meter} value=${score} /><span>${score.toFixed(2)}</span>`}>
    <${Signal} name=${meaning} value=${similarity} missing=${words.noVector} />
    <${Signal} name=${byWords} value=${lexical} />
    <${Signal} name=${words.decay} value=${decay} />
    <div class="signal"><dt>${words.age}</dt><dd>${words.ageDays(rounded(ageDays))}</dd></div>
  <//>`;
}

const rounded = (days) => (days < 10 ? Number(days.toFixed(1)) : Math.round(days));
