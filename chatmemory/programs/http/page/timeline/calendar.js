/**
 * Spans of time at the calendar's own borders, in the person's time zone: what a range shows, where an axis
 * has ticks.
 */

const MINUTE = 60_000;

/** From fine to coarse, each with the length of its longest spans, in milliseconds. */
export const UNITS = {
  hour: 60 * MINUTE,
  quarterDay: 6 * 60 * MINUTE,
  day: 24 * 60 * MINUTE,
  week: 7 * 24 * 60 * MINUTE,
  month: 31 * 24 * 60 * MINUTE,
  quarter: 92 * 24 * 60 * MINUTE,
  year: 366 * 24 * 60 * MINUTE,
};

const FINEST_FIRST = Object.keys(UNITS);

/**
 * The start of the unit that holds the instant.  Dates are made of their parts, so that a day may have 23
 * hours.
 */
export function startOf(unit, instant) {
  const date = new Date(instant);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  switch (unit) {
    case "hour":
      return new Date(year, month, day, date.getHours());
    case "quarterDay":
      return new Date(year, month, day, date.getHours() - (date.getHours() % 6));
    case "day":
      return new Date(year, month, day);
    case "week":
      return new Date(year, month, day - ((date.getDay() + 6) % 7)); // a week begins on Monday, as in ISO 8601
    case "month":
      return new Date(year, month, 1);
    case "quarter":
      return new Date(year, month - (month % 3), 1);
    case "year":
      return new Date(year, 0, 1);
    default:
      throw new Error(`no unit of time: ${unit}`);
  }
}

/** The start of the unit that comes `steps` after the one that holds the instant. */
export function shifted(unit, instant, steps = 1) {
  const date = startOf(unit, instant);
  const [year, month, day, hour] = [date.getFullYear(), date.getMonth(), date.getDate(), date.getHours()];
  switch (unit) {
    case "hour":
      return new Date(date.getTime() + steps * UNITS.hour); // where a clock goes back, an hour comes twice
    case "quarterDay":
      return new Date(year, month, day, hour + 6 * steps);
    case "day":
      return new Date(year, month, day + steps);
    case "week":
      return new Date(year, month, day + 7 * steps);
    case "month":
      return new Date(year, month + steps, 1);
    case "quarter":
      return new Date(year, month + 3 * steps, 1);
    default:
      return new Date(year + steps, 0, 1);
  }
}

/** The finest unit of which no more than `most` lie in the span. */
export function unitFor(span, most) {
  const length = span.until - span.from;
  return FINEST_FIRST.find((unit) => length / UNITS[unit] <= most) ?? "year";
}

/** The spans of the unit that touch the span, in order. */
export function unitsIn(span, unit) {
  const found = [];
  for (let from = startOf(unit, span.from); from < span.until; ) {
    const until = shifted(unit, from);
    found.push({ from, until });
    from = until;
  }
  return found;
}
