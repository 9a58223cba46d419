/**
 * `TimelinePlot`: the drawing of the timeline, one lane per category over an axis of time.
 *
 * It is one stop of the tabulator: arrows go along a lane and from lane to lane, Enter opens.  A finger shows first
 * what it touches, and opens it with a second touch.
 */

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { hrefTo } from "../hash.js";
import { said } from "../pieces/time.js";
import { shortened } from "../shortened.js";
import { useWords } from "../words.js";
import { timelineWords } from "../words/timeline.js";
import { nameOf, ticksOf } from "./time_span.js";
import { LABEL_HEIGHT, layOut, MARGIN } from "./timeline_layout.js";
import { Legend, MemoryShape } from "./timeline_shapes.js";

const AXIS_HEIGHT = 28;
const TICK_ROOM = 76; // pixels that the label of a tick may take
const DIGIT_ROOM = 6; // and a digit of the number above a bar

/**
 * *knownSince*: before it nothing is known.  *shown* is the mark that is looked at; *onShow* gets the one, a dot or a
 * bar, that is looked at now, and *onOpenBar* the bar that one opens.
 */
export function TimelinePlot({ points, span, knownSince, shown, onShow, onOpenBar }) {
  const words = useWords(timelineWords);
  const [frame, width] = useWidth();
  return html`<div class="timeline-frame" ref=${frame}>
    <p class="visually-hidden" id="timeline-keys">${words.keys}</p>
    ${width > 0 &&
    html`<${Drawing} ...${{ points, span, knownSince, shown, onShow, onOpenBar, width, words }} />`}
  </div>`;
}

function Drawing({ points, span, knownSince, shown, onShow, onOpenBar, width, words }) {
  const { lanes, height, x } = layOut(points, span, width);
  const isWhole = knownSince <= span.from;
  const svg = useRef(null);
  const touched = useRef(null); // the mark that a finger shows first, and opens the next time
  const marks = lanes.flatMap((lane) => lane.marks);
  const stop = (marks.find((mark) => mark.key === shown?.key) ?? marks[0])?.key;
  const press = (mark) => (event) => {
    const next = neighbour(event.key, lanes, mark);
    if (next) svg.current.querySelector(`[data-mark="${CSS.escape(next.key)}"]`).focus();
    else if (mark.kind === "bar" && ["Enter", " "].includes(event.key)) onOpenBar(mark);
    else return;
    event.preventDefault();
  };
  const click = (mark) => (event) => {
    if (touched.current === mark.key) event.preventDefault();
    else if (mark.kind === "bar") onOpenBar(mark);
    touched.current = null;
  };
  const own = (mark) => ({
    key: mark.key,
    mark,
    isShown: mark.key === shown?.key,
    "data-mark": mark.key,
    tabindex: mark.key === stop ? 0 : -1,
    onFocus: () => onShow(mark),
    onPointerEnter: (event) => event.pointerType === "touch" || onShow(mark),
    onPointerDown: (event) => {
      touched.current = event.pointerType === "touch" && mark.key !== shown?.key ? mark.key : null;
    },
    onClick: click(mark),
    onKeyDown: press(mark),
  });

  return html`
    <${Legend} hasBars=${lanes.some((lane) => lane.isCounted)} />
    <svg
      ref=${svg}
      class="timeline"
      width=${width}
      height=${height + AXIS_HEIGHT}
      role="group"
      aria-label=${words.plot(points.length, nameOf(span))}
      aria-describedby="timeline-keys"
    >
      <${Axis} span=${span} x=${x} width=${width} height=${height} />
      ${isWhole || html`<${Unknown} until=${Math.min(x(knownSince), width - MARGIN)} height=${height} />`}
      ${lanes.map(
        (lane) => html`<g key=${lane.category} class=${`lane ${lane.category}`}>
          <text class="lane-name" x=${MARGIN + 4} y=${lane.top + LABEL_HEIGHT - 7}>
            ${words[lane.category]}${" "}
            <tspan class="lane-count">${isWhole ? lane.count : words.atLeast(lane.count)}</tspan>
          </text>
          <line class="lane-floor" x1=${MARGIN} x2=${width - MARGIN} y1=${lane.bottom} y2=${lane.bottom} />
          ${lane.marks.map((mark) => html`<${mark.kind === "dot" ? Dot : Bar} ...${own(mark)} />`)}
        </g>`,
      )}
    </svg>
  `;
}

function Dot({ mark, isShown, ...handlers }) {
  const words = useWords(timelineWords);
  const { memory, x, y, radius } = mark;
  const label = words.dot({
    when: said(new Date(mark.at), { dateStyle: "medium", timeStyle: "short" }),
    kind: [words[memory.category ?? "none"], words[memory.memoryType], memory.pinned && words.pinned].filter(Boolean),
    confidence: `${Math.round(memory.confidence * 100)}%`,
    text: shortened(memory.content),
  });
  const href = hrefTo(["memories", memory.id]);
  return html`<a class=${isShown ? "mark shown" : "mark"} href=${href} aria-label=${label} ...${handlers}>
    <circle class="touch" cx=${x} cy=${y} r="8" />
    <${MemoryShape} memory=${memory} x=${x} y=${y} radius=${radius} />
  </a>`;
}

function Bar({ mark, isShown, ...handlers }) {
  const words = useWords(timelineWords);
  const { x, y, width, height, points } = mark;
  const label = words.bar(points.length, nameOf(mark));
  return html`<g class=${isShown ? "mark shown" : "mark"} role="button" aria-label=${label} ...${handlers}>
    <rect class="bar" x=${x} y=${y} width=${width} height=${height} rx="2" />
    ${width >= DIGIT_ROOM * String(points.length).length &&
    html`<text class="bar-count" x=${x + width / 2} y=${y - 4}>${points.length}</text>`}
  </g>`;
}

function Axis({ span, x, width, height }) {
  const ticks = ticksOf(span, Math.max(1, Math.floor(width / TICK_ROOM)));
  return html`<g class="axis" aria-hidden="true">
    ${ticks.map(({ at, label }) => {
      const place = x(at);
      const anchor = place > width - TICK_ROOM / 2 ? "end" : place < TICK_ROOM / 2 ? "start" : "middle";
      return html`<g key=${at.getTime()}>
        <line x1=${place} x2=${place} y1="0" y2=${height + 5} />
        <text x=${place} y=${height + 19} text-anchor=${anchor}>${label}</text>
      </g>`;
    })}
  </g>`;
}

/** The part of the span from which nothing was loaded: no dot there does not mean no memory. */
function Unknown({ until, height }) {
  const words = useWords(timelineWords);
  return html`<g class="unknown">
    <rect x=${MARGIN} y="0" width=${Math.max(0, until - MARGIN)} height=${height} />
    <text x=${MARGIN + 6} y=${height - 6}>${words.unknown}</text>
  </g>`;
}

/** The mark to which a key leads from a mark; undefined when there is none. */
function neighbour(key, lanes, mark) {
  const filled = lanes.filter((lane) => lane.marks.length);
  const lane = filled.findIndex(({ marks }) => marks.includes(mark));
  const { marks } = filled[lane];
  const index = marks.indexOf(mark);
  const along = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: marks.length - 1 };
  if (key in along) return marks[along[key]];
  const across = { ArrowDown: lane + 1, ArrowUp: lane - 1 };
  const nearer = (best, other) => (distance(other, mark) < distance(best, mark) ? other : best);
  return filled[across[key]]?.marks.reduce(nearer);
}

const distance = (one, other) => Math.abs(one.at - other.at);

/** The width that an element has, at its first drawing and later: the observer alone would tell it a frame too late. */
function useWidth() {
  const frame = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = frame.current;
    const measure = () => setWidth(Math.floor(element.getBoundingClientRect().width));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [frame, width];
}
