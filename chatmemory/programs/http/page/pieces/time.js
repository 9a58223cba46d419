/**
 * `Time`: an instant, as short as it can be said, with all of it for those who point at it.
 */

import { html } from "../vendor/preact-htm.js";
import { language, shownLanguage } from "../preferences.js";

const DAY_MS = 86_400_000;
const NEAR_MS = 6 * 3_600_000; // up to here "12 minutes ago" says more than the time of the day
const formats = new Map();

/** An ISO 8601 instant; *isExact*: with the time of the day, however long ago. */
export function Time({ at, isExact = false }) {
  language.use();
  if (!at) return null;
  const instant = new Date(at);
  return html`<time dateTime=${at} title=${said(instant, { dateStyle: "full", timeStyle: "medium" })}>
    ${isExact ? said(instant, { dateStyle: "medium", timeStyle: "short" }) : shortly(instant)}
  </time>`;
}

/** Return *instant* in the language that is shown, as the options of `Intl.DateTimeFormat` want it. */
export function said(instant, options) {
  return format(Intl.DateTimeFormat, options).format(instant);
}

/** Return the time from *from* to *until*; what both have in common is said once. */
export function saidRange(from, until, options) {
  return format(Intl.DateTimeFormat, options).formatRange(from, until);
}

function shortly(instant) {
  const age = Date.now() - instant.getTime();
  if (age >= 0 && age < NEAR_MS) return ago(age);
  const now = new Date();
  if (age < DAY_MS && instant.toDateString() === now.toDateString()) return said(instant, { timeStyle: "short" });
  if (instant.getFullYear() === now.getFullYear()) return said(instant, { month: "short", day: "numeric" });
  return said(instant, { dateStyle: "medium" });
}

function ago(age) {
  const relative = format(Intl.RelativeTimeFormat, { numeric: "auto", style: "short" });
  const minutes = Math.floor(age / 60_000);
  if (minutes === 0) return relative.format(0, "second");
  return minutes < 60 ? relative.format(-minutes, "minute") : relative.format(-Math.floor(minutes / 60), "hour");
}

function format(Format, options) {
  const key = `${Format.name} ${shownLanguage()} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new Format(shownLanguage() === "zh" ? "zh-CN" : "en", options));
  return formats.get(key);
}
