/**
 * `Dialog` and `Confirmation`, on the browser's own `<dialog>`: the focus stays inside and goes back to where it came from.
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { useWords } from "../words.js";
import { pieceWords } from "../words/pieces.js";
import { IconButton, ProblemNote, useId } from "./pieces.js";

/**
 * What Esc does in a form: it leaves at once, or, when something was typed, only when it is pressed again.
 *
 * `typed` is called at each input, `escape` at Esc; `warning` is what the form shows between the two.
 */
export function useEscape(onClose) {
  const words = useWords(pieceWords);
  const [state, setState] = useState("untouched");
  return {
    typed: () => setState("typed"),
    escape: () => (state === "typed" ? setState("warned") : onClose()),
    warning: state === "warned" && html`<p class="field-problem" role="status">${words.escAgain}</p>`,
  };
}

/**
 * A modal dialog for as long as it is drawn.  *onClose* is called when the person leaves it: by Esc or by the cross.
 * The heading has the focus first; *isBusy* is for those who cannot see that something is under way.
 */
export function Dialog({ title, onClose, isBusy = false, class: name = "", children }) {
  const words = useWords(pieceWords);
  const dialog = useRef(null);
  const heading = useRef(null);
  const id = useId();
  const { typed, escape, warning } = useEscape(onClose);
  const cancel = (event) => {
    event.preventDefault(); // drawing it or not is what opens and closes it
    escape();
  };
  const once = (event) => event.key === "Escape" && event.repeat && event.preventDefault(); // held down, it is pressed once
  const closed = () => dialog.current && onClose(); // by the browser, which asks only once; not by the lines below
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element.showModal();
    // The heading rather than the first field: on a phone a field would bring the keyboard up over the others.
    heading.current.focus();
    return () => {
      element.close();
      (opener?.isConnected && opener !== document.body ? opener : document.querySelector("main"))?.focus();
    };
  }, []);
  return html`<dialog ref=${dialog} class=${name} aria-labelledby=${id} aria-busy=${isBusy}
      onInput=${typed} onKeyDown=${once} onCancel=${cancel} onClose=${closed}>
    <header>
      <h2 ref=${heading} id=${id} tabIndex="-1">${title}</h2>
      <${IconButton} icon="close" label=${words.close} isBare onClick=${onClose} />
    </header>
    ${warning}
    ${children}
  </dialog>`;
}

/**
 * Ask before something that cannot be taken back.  *act* is a promise's maker; a problem is shown and may be tried again.
 */
export function Confirmation({ title, children, label, act, onDone, onClose }) {
  const words = useWords(pieceWords);
  const [state, setState] = useState({ isBusy: false });
  const isThere = useRef(true);
  useEffect(() => () => void (isThere.current = false), []);
  const confirm = async () => {
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      onDone(await act());
    } catch (problem) {
      if (isThere.current) setState({ isBusy: false, problem });
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose} isBusy=${state.isBusy} class="confirmation">
    <div class="dialog-body">${children}${state.problem && html`<${ProblemNote} problem=${state.problem} />`}</div>
    <footer>
      <button type="button" onClick=${onClose}>${words.cancel}</button>
      <button type="button" class="danger" aria-disabled=${state.isBusy} onClick=${confirm}>${label}</button>
    </footer>
  <//>`;
}
