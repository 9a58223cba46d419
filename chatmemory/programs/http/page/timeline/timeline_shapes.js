/**
 * How a memory looks in the timeline: a disc when it is long-term, a diamond when it is short-term, in a ring when a
 * person has pinned it; the larger, the surer.  And the legend that says so.
 */

import { html } from "../vendor/preact-htm.js";
import { useWords } from "../words.js";
import { timelineWords } from "../words/timeline.js";
import { radiusOf } from "./timeline_layout.js";

const RING = 2; // pixels between the shape and its ring
const EXAMPLE = { memoryType: "long_term", pinned: false, confidence: 1 };

export function MemoryShape({ memory, x, y, radius }) {
  const isDisc = memory.memoryType === "long_term";
  const reach = isDisc ? radius : radius * 1.25; // so that a diamond covers about as much as a disc
  return html`${isDisc
      ? html`<circle class="disc" cx=${x} cy=${y} r=${radius} />`
      : html`<path class="diamond" d=${`M${x} ${y - reach}l${reach} ${reach}-${reach} ${reach}-${reach}-${reach}z`} />`}
    ${memory.pinned && html`<circle class="ring" cx=${x} cy=${y} r=${reach + RING} />`}`;
}

export function Legend({ hasBars }) {
  const words = useWords(timelineWords);
  return html`<ul class="legend">
    <li><${Example} /> ${words.long_term}</li>
    <li><${Example} memoryType="short_term" /> ${words.short_term}</li>
    <li><${Example} pinned /> ${words.pinned}</li>
    <li><${Example} confidence=${0} /><${Example} confidence=${0.5} /><${Example} /> ${words.surer}</li>
    ${hasBars && html`<li>${words.bars}</li>`}
  </ul>`;
}

function Example(changes) {
  const memory = { ...EXAMPLE, ...changes };
  return html`<svg class="example" width="18" height="18" aria-hidden="true">
    <${MemoryShape} memory=${memory} x=${9} y=${9} radius=${radiusOf(memory.confidence)} />
  </svg>`;
}
