/**
 * The timeline: what is remembered, by time and category, in one picture; and the same as a table.
 *
 * Which span it shows stands in the address.
 */

import { html, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { usePages } from "../asking.js";
import { goTo } from "../hash.js";
import { forgotten } from "../memories/forgetting.js";
import { Empty, Heading, Loading, Note, ProblemNote, useTitle } from "../pieces/pieces.js";
import { said } from "../pieces/time.js";
import { useWords } from "../words.js";
import { timelineWords } from "../words/timeline.js";
import { shifted } from "./calendar.js";
import { newestMemories } from "./newest_memories.js";
import { finerRange, nameOf, RANGES, spanOf } from "./time_span.js";
import { TimelineDetail } from "./timeline_detail.js";
import { TimelinePlot } from "./timeline_plot.js";
import { TimelineTable } from "./timeline_table.js";

const MOST_AT_ONCE = 2000;

export function Timeline({ query }) {
  const words = useWords(timelineWords);
  const [count, setCount] = useState(0);
  const gone = forgotten.use();
  const pages = usePages(
    (after, { signal }) => newestMemories(MOST_AT_ONCE, { after, signal, onProgress: setCount }),
    [],
  );
  const points = useMemo(() => pointsOf(pages.items, gone), [pages.items, gone]);
  useTitle(words.title);
  return html`<div class="page timeline-page">
    <${Heading}>${words.title}<//>
    ${pages.isLoading && html`<${Loading} label=${words.loading(count)} />`}
    ${pages.problem && html`<${ProblemNote} problem=${pages.problem} retry=${pages.more} />`}
    ${pages.isEmpty && html`<${Empty} title=${words.nothing} />`}
    ${points.length > 0 &&
    html`<${Picture} points=${points} onOlder=${pages.hasMore ? pages.more : null} query=${query} />`}
  </div>`;
}

/** *onOlder* loads older memories; null when there are none. */
function Picture({ points, onOlder, query }) {
  const words = useWords(timelineWords);
  const [shown, setShown] = useState(null);
  const table = useRef(null);
  const range = RANGES.includes(query.range) ? query.range : "all";
  const span = spanOf(range, instantOf(query.at) ?? points.at(-1).at, points);
  const inSpan = points.filter(({ at }) => at >= span.from && at < span.until);
  const knownSince = onOlder ? points[0].at : -Infinity;
  const isWhole = knownSince <= span.from;

  const see = (toRange, instant) => {
    setShown(null);
    goTo(["timeline"], { range: toRange, at: toRange === "all" ? "" : dayOf(instant) }, { replace: true });
  };
  const openBar = (bar) => {
    const finer = finerRange(range, bar.unit);
    if (finer) return see(finer, bar.from);
    table.current.open = true;
    return table.current.querySelector("summary").focus();
  };
  return html`
    ${onOlder &&
    html`<${Note}>
      <p class="row spread">
        <span>${words.onlyNewest(points.length, said(knownSince, { dateStyle: "long" }))}</span>
        <button type="button" onClick=${onOlder}>${words.loadOlder}</button>
      </p>
    <//>`}
    <div class="span-line">
      <${RangeChoice} range=${range} onChange=${(chosen) => see(chosen, newestIn(inSpan) ?? span.from)} />
      <h2 class="span-name" aria-live="polite">${nameOf(span)}</h2>
      ${range !== "all" &&
      html`<div class="row">
        <button
          type="button"
          disabled=${span.from <= points[0].at}
          onClick=${() => see(range, shifted(range, span.from, -1))}
        >${words.earlier}</button>
        <button
          type="button"
          disabled=${span.until > points.at(-1).at}
          onClick=${() => see(range, span.until)}
        >${words.later}</button>
      </div>`}
    </div>
    <div class="card timeline-card">
      <${TimelinePlot}
        points=${inSpan}
        span=${span}
        knownSince=${knownSince}
        shown=${shown}
        onShow=${setShown}
        onOpenBar=${openBar}
      />
      <${TimelineDetail}
        mark=${shown}
        hint=${inSpan.length ? words.hint : isWhole ? words.nothingHere : words.nothingLoaded}
        isZoomable=${shown?.kind === "bar" && finerRange(range, shown.unit)}
        onOpenBar=${openBar}
      />
    </div>
    <${TimelineTable} points=${inSpan} details=${table} />
  `;
}

function RangeChoice({ range, onChange }) {
  const words = useWords(timelineWords);
  return html`<fieldset class="segments">
    <legend class="visually-hidden">${words.range}</legend>
    ${RANGES.map(
      (choice) => html`<label key=${choice}>
        <input type="radio" name="range" checked=${choice === range} onChange=${() => onChange(choice)} />
        <span>${words[choice]}</span>
      </label>`,
    )}
  </fieldset>`;
}

/** Each memory with the instant since when it is true, in the order of time. */
function pointsOf(memories, gone) {
  const points = memories
    .filter((memory) => !gone.has(memory.id))
    .map((memory) => ({ at: Date.parse(memory.createdAt), memory }));
  return points.sort((one, other) => one.at - other.at);
}

const newestIn = (points) => points.at(-1)?.at;

/** A day of the calendar as the address has it, and back; null for what is none. */
function dayOf(instant) {
  const day = new Date(instant);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

function instantOf(day) {
  const instant = new Date(`${day}T00:00`); // without a zone: in the person's own
  return Number.isNaN(instant.getTime()) ? null : instant.getTime();
}
