/**
 * `Parts`: how the tokens of a context divide among its parts, as a bar and as numbers.
 */

import { html } from "../vendor/preact-htm.js";
import { useWords } from "../words.js";
import { modelWords } from "../words/model_view.js";

const WIDTH = 1000;

/** *budget*: where another one than the configured one is tried; the bar then shows what is left of it. */
export function Parts({ context: { parts, tokens }, budget }) {
  const words = useWords(modelWords);
  const whole = Math.max(budget ?? tokens, tokens, 1);
  let left = 0;
  const bars = parts.map(({ part, tokens: size }) => {
    const width = (WIDTH * size) / whole;
    left += width;
    return html`<rect key=${part} class=${`part ${part}`} x=${left - width} width=${width} height="20" />`;
  });
  return html`<section class="parts" aria-label=${words.parts}>
    <p class="parts-total" role="status">
      <strong>${budget ? `${tokens} / ${words.total(budget)}` : words.total(tokens)}</strong>
    </p>
    <svg viewBox=${`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="meter-track" width=${WIDTH} height="20" />${bars}
    </svg>
    <dl>
      ${parts.map(({ part, tokens: size }) => html`<div key=${part}>
        <dt><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class=${`part ${part}`} width="10" height="10" /></svg>${words[part === "user_message" ? "userMessage" : part]}</dt>
        <dd>${size}</dd>
      </div>`)}
    </dl>
  </section>`;
}
