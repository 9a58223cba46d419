/**
 * `TimelineDetail`: what one looks at in the timeline, in words, always at the same place.
 */

import { html } from "../vendor/preact-htm.js";
import { hrefTo } from "../hash.js";
import { Badge } from "../pieces/pieces.js";
import { Time } from "../pieces/time.js";
import { shortened } from "../shortened.js";
import { useWords } from "../words.js";
import { timelineWords } from "../words/timeline.js";
import { nameOf } from "./time_span.js";

const NAMED = 2; // memories of a bar that are named here

/** *mark*: the dot or the bar; null: the *hint* stands there. */
export function TimelineDetail({ mark, hint, isZoomable, onOpenBar }) {
  const words = useWords(timelineWords);
  if (!mark) return html`<div class="timeline-detail quiet">${hint}</div>`;
  if (mark.kind === "dot") return html`<div class="timeline-detail"><${OneOf} memory=${mark.memory} /></div>`;
  const newest = mark.points.slice(-NAMED).reverse();
  return html`<div class="timeline-detail">
    <p class="row spread">
      <strong>${words.bar(mark.points.length, nameOf(mark))}</strong>
      <button type="button" onClick=${() => onOpenBar(mark)}>${isZoomable ? words.zoomIn : words.showInTable}</button>
    </p>
    <ul>
      ${newest.map(
        ({ memory }) => html`<li key=${memory.id}>
          <a href=${hrefTo(["memories", memory.id])}>${shortened(memory.content)}</a>
        </li>`,
      )}
      ${mark.points.length > NAMED && html`<li class="quiet">${words.andMore(mark.points.length - NAMED)}</li>`}
    </ul>
  </div>`;
}

function OneOf({ memory }) {
  const words = useWords(timelineWords);
  return html`
    <p class="timeline-text">${memory.content.slice(0, 500)}</p>
    <p class="badges">
      <${Badge} kind=${memory.category ?? "quiet"}>${words[memory.category ?? "none"]}<//>
      <${Badge} kind=${memory.memoryType}>${words[memory.memoryType]}<//>
      ${memory.pinned && html`<${Badge} kind="pinned">${words.pinned}<//>`}
      <span class="quiet small">${words.confidence} ${Math.round(memory.confidence * 100)}%</span>
      <span class="quiet small"><${Time} at=${memory.createdAt} isExact /></span>
      <a class="onward" href=${hrefTo(["memories", memory.id])}>${words.open}</a>
    </p>
  `;
}
