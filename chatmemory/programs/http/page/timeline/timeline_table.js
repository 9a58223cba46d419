/**
 * `TimelineTable`: the memories of the timeline as a table, newest first, for those who read rather than look.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { hrefTo } from "../hash.js";
import { Time } from "../pieces/time.js";
import { shortened } from "../shortened.js";
import { useWords } from "../words.js";
import { timelineWords } from "../words/timeline.js";

/** *details*: a reference to the element, for those who want to unfold it. */
export function TimelineTable({ points, details }) {
  const words = useWords(timelineWords);
  const [isOpen, setOpen] = useState(false); // thousands of rows are drawn for those alone who want them
  return html`<details ref=${details} class="timeline-table" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${words.asTable(points.length)}</summary>
    ${isOpen &&
    html`<div class="table-frame" role="region" aria-label=${words.asTable(points.length)} tabindex="0">
      <table>
        <thead>
          <tr>
            ${["when", "category", "memoryType", "confidence", "pinned", "memory"].map(
              (column) => html`<th key=${column} scope="col">${words[column]}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${points.map(({ memory }) => html`<${Row} key=${memory.id} memory=${memory} />`).reverse()}
        </tbody>
      </table>
    </div>`}
  </details>`;
}

function Row({ memory }) {
  const words = useWords(timelineWords);
  return html`<tr>
    <td><${Time} at=${memory.createdAt} isExact /></td>
    <td>${words[memory.category ?? "none"]}</td>
    <td>${words[memory.memoryType]}</td>
    <td>${Math.round(memory.confidence * 100)}%</td>
    <td>${memory.pinned ? words.yes : ""}</td>
    <td><a href=${hrefTo(["memories", memory.id])}>${shortened(memory.content)}</a></td>
  </tr>`;
}
