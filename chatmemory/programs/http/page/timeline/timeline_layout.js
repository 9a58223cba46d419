/**
 * Where each memory stands in the timeline: lanes of one category each, in them a dot per memory or, where
 * dots would be too many to tell apart, a bar per stretch of time.  Numbers only; `timeline_plot.js` draws
 * them.
 */

import { unitFor, unitsIn } from "./calendar.js";

const LANES = ["preference", "fact", "pattern", "none"];
export const LABEL_HEIGHT = 22;
const SMALLEST_RADIUS = 3;
const LARGEST_RADIUS = 5;
export const MARGIN = 10; // of the plot at both sides: a dot at its border is whole

const SLOT = 16; // of a dot with the ring of a pinned one around it
const FEWEST_ROWS = 2;
const MOST_ROWS = 5; // a higher stack is counted instead
const NARROWEST_BAR = 16;

/** The lanes of *points*, `{at, memory}` in the order of time and all within the span, in a plot of that *width*. */
export function layOut(points, span, width) {
  const x = scale(span, width);
  const lanes = LANES.map((category) => {
    const own = points.filter(({ memory }) => (memory.category ?? "none") === category);
    return { category, count: own.length, own, dots: stacked(own, x) };
  });
  const unit = unitFor(span, Math.max(1, Math.floor((width - 2 * MARGIN) / NARROWEST_BAR)));
  for (const lane of lanes) lane.buckets = lane.dots ? [] : bucketed(lane.own, span, unit);
  const most = Math.max(0, ...lanes.flatMap((lane) => lane.buckets.map((bucket) => bucket.points.length)));
  let height = 0;
  const placed = lanes.map(({ category, count, dots, buckets }) => {
    const top = height;
    const rows = dots ? Math.max(FEWEST_ROWS, ...dots.map((dot) => dot.row + 1)) : MOST_ROWS;
    const bottom = top + LABEL_HEIGHT + rows * SLOT;
    height = bottom;
    const marks = dots
      ? dots.map((dot) => ({ ...dot, y: bottom - (dot.row + 0.5) * SLOT }))
      : buckets.map((bucket) => barOf(bucket, { category, x, bottom, most, span }));
    return { category, count, isCounted: !dots, top, bottom, marks };
  });
  return { lanes: placed, height, x };
}

/** The function from an instant to its place. */
function scale(span, width) {
  const perMillisecond = (width - 2 * MARGIN) / (span.until - span.from);
  return (instant) => MARGIN + (instant - span.from) * perMillisecond;
}

/** The radius whose area grows with the confidence. */
export function radiusOf(confidence) {
  return Math.sqrt(SMALLEST_RADIUS ** 2 + confidence * (LARGEST_RADIUS ** 2 - SMALLEST_RADIUS ** 2));
}

/** A dot for each point, in the lowest row where it hides no other; null when that takes too many rows. */
function stacked(points, x) {
  const lastInRow = [];
  const dots = [];
  for (const { at, memory } of points) {
    const place = x(at);
    const free = lastInRow.findIndex((last) => place - last >= SLOT);
    const row = free < 0 ? lastInRow.length : free;
    if (row >= MOST_ROWS) return null;
    lastInRow[row] = place;
    dots.push({ kind: "dot", key: `dot ${memory.id}`, at, memory, x: place, row, radius: radiusOf(memory.confidence) });
  }
  return dots;
}

/** The stretches of the span, a *unit* long each, in which there are points. */
function bucketed(points, span, unit) {
  const buckets = unitsIn(span, unit).map((stretch) => ({ ...stretch, unit, points: [] }));
  let index = 0;
  for (const point of points) {
    while (point.at >= buckets[index].until) index += 1;
    buckets[index].points.push(point);
  }
  return buckets.filter((bucket) => bucket.points.length > 0);
}

function barOf(bucket, { category, x, bottom, most, span }) {
  const left = x(Math.max(bucket.from, span.from));
  const right = x(Math.min(bucket.until, span.until));
  const height = (bucket.points.length / most) * (MOST_ROWS - 1) * SLOT; // one row is left for the number above it
  return {
    ...bucket,
    kind: "bar",
    key: `bar ${category} ${bucket.from.getTime()}`,
    at: bucket.from.getTime(),
    x: left,
    y: bottom - height,
    width: Math.max(2, right - left - 2),
    height,
  };
}
