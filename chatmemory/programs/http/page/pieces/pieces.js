/**
 * Small pieces that several views are made of.
 */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { useExplanation } from "../problem.js";
import { useWords } from "../words.js";
import { pieceWords } from "../words/pieces.js";
import { Icon } from "./icons.js";

let names = 0;

/** An id for an element of this component, that no other has. */
export function useId() {
  return useState(() => `piece-${++names}`)[0];
}

/** Name the document after what is shown. */
export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · chatmemory` : "chatmemory";
  }, [title]);
}

let isFirstHeading = true;

/** The heading of what an address leads to: it takes the focus as one arrives, so that a screen reader says where one is. */
export function Heading({ level = 1, isHere = true, children }) {
  const heading = useRef(null);
  useEffect(() => {
    if (isHere && !isFirstHeading) heading.current.focus({ preventScroll: true });
    if (isHere) isFirstHeading = false;
  }, [isHere]);
  return html`<${`h${level}`} ref=${heading} tabIndex="-1">${children}<//>`;
}

/** A button with an icon; *label* alone is heard when *isBare*. */
export function IconButton({ icon, label, isBare = false, class: name = "", ...rest }) {
  const title = isBare ? label : undefined;
  return html`<button type="button" class=${`with-icon ${isBare ? "bare" : ""} ${name}`} aria-label=${title} title=${title} ...${rest}>
    <${Icon} name=${icon} />${isBare || html`<span>${label}</span>`}
  </button>`;
}

/** A labelled control: `html\`<${"Field"} label="Key">${"(id) => html`<input id=${id} />`"}</>\`` gives it its id. */
export function Field({ label, hint, problem, children }) {
  const id = useId();
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ") || undefined;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, "aria-describedby": described, "aria-invalid": problem ? "true" : undefined })}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    ${problem && html`<p class="field-problem" id=${`${id}-problem`}>${problem}</p>`}
  </div>`;
}

/** A choice among *options*, `[[value, name], ...]`; *any*, where it is given, is the name of choosing none of them. */
export function Select({ value = "", any, options, onChoose, ...own }) {
  return html`<select ...${own} value=${value} onChange=${(event) => onChoose(event.target.value)}>
    ${any && html`<option value="">${any}</option>`}
    ${options.map(([option, name]) => html`<option key=${option} value=${option}>${name}</option>`)}
  </select>`;
}

/** A text, whose end beyond *most* characters is shown when it is asked for. */
export function LongText({ text, most, ...own }) {
  const words = useWords(pieceWords);
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > most;
  return html`
    <div class="text" dir="auto" ...${own}>${isCut ? `${text.slice(0, most)}…` : text}</div>
    ${isCut && html`<button type="button" class="bare" onClick=${() => setWhole(true)}>${words.showAll(text.length)}</button>`}
  `;
}

/** A short word about something: `kind` is a class of `pieces.css` (`preference`, `fact`, `pattern`, `quiet` ...). */
export function Badge({ kind = "quiet", children }) {
  return html`<span class=${`badge ${kind}`}>${children}</span>`;
}

/** What went wrong, and the way on where there is one. */
export function ProblemNote({ problem, retry }) {
  const words = useWords(pieceWords);
  const explain = useExplanation();
  return html`<div class="note failed" role="alert">
    <${Icon} name="warning" />
    <p>${explain(problem)}</p>
    ${retry && html`<button type="button" onClick=${retry}>${words.retry}</button>`}
  </div>`;
}

/** Something to know: *kind* is `info`, `warning` or `failed`. */
export function Note({ kind = "info", children }) {
  return html`<div class=${`note ${kind}`}><${Icon} name=${kind === "info" ? "info" : "warning"} /><div>${children}</div></div>`;
}

/** Said while there is nothing to show yet. */
export function Loading({ label }) {
  const words = useWords(pieceWords);
  return html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${label ?? words.loading}</p>`;
}

/** In the place of a list without members. */
export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children}</div>`;
}

/** The end of a list in pages (`usePages`): its problem, its progress, or the way to the next page. */
export function PagesEnd({ pages, label }) {
  const words = useWords(pieceWords);
  if (pages.problem) return html`<${ProblemNote} problem=${pages.problem} retry=${pages.more} />`;
  if (pages.isLoading) return html`<${Loading} />`;
  if (!pages.hasMore) return null;
  return html`<p class="pages-end"><button type="button" onClick=${pages.more}>${label ?? words.more}</button></p>`;
}
