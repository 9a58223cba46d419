/**
 * Notices: short messages at the edge of the page, which go away by themselves unless somebody is looking at them.
 */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Observable } from "../observable.js";
import { useWords } from "../words.js";
import { pieceWords } from "../words/pieces.js";
import { Icon } from "./icons.js";
import { IconButton } from "./pieces.js";

const SECONDS = 6;
const notices = new Observable([]);
let numbers = 0;

/**
 * Show a notice.
 *
 * `kind`: `done`, `info` or `failed`.  `action`: `{label, run}`, a button that also ends the notice.  `link`: `{label, href}`.
 * `onGone`: called once when it has ended without its action.  Returns a function that takes it away, silently.
 */
export function notify({ text, kind = "done", seconds = SECONDS, action, link, onGone }) {
  const number = ++numbers;
  const remove = () => {
    notices.value = notices.value.filter((other) => other.number !== number);
  };
  const end = (act) => () => {
    if (!notices.value.some((other) => other.number === number)) return;
    remove();
    act?.();
  };
  const notice = { number, text, kind, seconds, link, gone: end(onGone) };
  if (action) notice.action = { label: action.label, run: end(action.run) };
  notices.value = [...notices.value, notice];
  return remove;
}

/** Where notices appear; a screen reader reads them out as they come. */
export function Notices() {
  const words = useWords(pieceWords);
  const shown = notices.use();
  return html`<section class="notices" aria-label=${words.notices} aria-live="polite" aria-relevant="additions">
    ${shown.map((notice) => html`<${Notice} key=${notice.number} ...${notice} />`)}
  </section>`;
}

function Notice({ text, kind, seconds, action, link, gone }) {
  const words = useWords(pieceWords);
  const left = useRef(seconds * 1000);
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const began = performance.now();
    const timer = setTimeout(gone, left.current);
    return () => {
      clearTimeout(timer);
      left.current -= performance.now() - began;
    };
  }, [isHeld]);
  const hold = () => setHeld(true);
  const release = (event) => {
    const notice = event.currentTarget;
    const focused = event.type === "focusout" ? event.relatedTarget : document.activeElement;
    if (!notice.matches(":hover") && !notice.contains(focused)) setHeld(false);
  };
  return html`<div class=${`notice ${kind}`} onMouseEnter=${hold} onMouseLeave=${release} onfocusin=${hold} onfocusout=${release}>
    <${Icon} name=${kind === "failed" ? "warning" : kind} />
    <p>${text}${link && html` <a href=${link.href}>${link.label}</a>`}</p>
    ${action && html`<button type="button" onClick=${action.run}>${action.label}</button>`}
    <${IconButton} icon="close" label=${words.dismiss} isBare onClick=${gone} />
  </div>`;
}
