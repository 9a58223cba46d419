/**
 * `Marked`: a text in which the words of a search are marked, in any case.
 */

import { html } from "../vendor/preact-htm.js";

/** *query*: its words are marked wherever they stand, also as parts of others; the longest of them comes first. */
export function Marked({ text, query = "" }) {
  const words = query.split(/\s+/).filter(Boolean).map(escaped);
  if (!words.length) return text;
  words.sort((one, other) => other.length - one.length);
  const pieces = text.split(new RegExp(`(${words.join("|")})`, "giu"));
  return pieces.map((piece, index) => (index % 2 ? html`<mark key=${index}>${piece}</mark>` : piece));
}

const escaped = (word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
