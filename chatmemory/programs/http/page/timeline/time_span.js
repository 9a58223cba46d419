/**
 * The span that the timeline shows: everything, or a year, a month, a week of the calendar, and what it is called.
 */

import { said, saidRange } from "../pieces/time.js";
import { shifted, startOf, unitFor, unitsIn, UNITS } from "./calendar.js";

export const RANGES = ["all", "year", "month", "week"];

/** The span of the *range* that holds the instant; of everything: the days from the first point to the last. */
export function spanOf(range, instant, points) {
  if (range !== "all") return { from: startOf(range, instant), until: shifted(range, instant) };
  return { from: startOf("day", points[0].at), until: shifted("day", points.at(-1).at) };
}

/** The range to see a stretch of time in when one shows this *range*; null when there is no finer one. */
export function finerRange(range, unit) {
  const finer = RANGES.slice(RANGES.indexOf(range) + 1);
  return finer.findLast((candidate) => UNITS[candidate] >= UNITS[unit]) ?? null;
}

/** What the stretch of time is called: `November 2026`, `2 – 8 Nov 2026`. */
export function nameOf({ from, until }) {
  const last = new Date(until.getTime() - 1);
  if (from.getTime() === startOf("year", from).getTime() && until.getTime() === shifted("year", from).getTime())
    return said(from, { year: "numeric" });
  if (from.getTime() === startOf("month", from).getTime() && until.getTime() === shifted("month", from).getTime())
    return said(from, { year: "numeric", month: "long" });
  const hours = until - from < UNITS.day - UNITS.hour ? { hour: "2-digit", minute: "2-digit" } : {};
  return saidRange(from, last, { year: "numeric", month: "short", day: "numeric", ...hours });
}

/** The ticks of an axis with room for so many: `{at, label}`, at the calendar's own borders. */
export function ticksOf(span, most) {
  const unit = unitFor(span, most);
  const starts = unitsIn(span, unit).map(({ from }) => from).filter((from) => from >= span.from);
  return starts.map((at, index) => ({ at, label: tickLabel(at, unit, index === 0) }));
}

function tickLabel(at, unit, isFirst) {
  const withYear = isFirst || at.getMonth() === 0 ? { year: "numeric" } : {};
  switch (unit) {
    case "year":
      return said(at, { year: "numeric" });
    case "quarter":
    case "month":
      return said(at, { month: "short", ...withYear });
    case "week":
    case "day":
      return said(at, { month: "short", day: "numeric" });
    default:
      return at.getHours() === 0 || isFirst
        ? said(at, { month: "short", day: "numeric" })
        : said(at, { hour: "2-digit", minute: "2-digit" });
  }
}
