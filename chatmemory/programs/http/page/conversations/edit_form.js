/**
 * `EditForm`: what a user has said, to be said otherwise.  *onSave(content, attempt, isAwaited)* is a promise's maker;
 * `isAwaited()` is false once the form was left.  A problem is shown and what was typed stays.
 */

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { newKey } from "../idempotency.js";
import { useEscape } from "../pieces/dialog.js";
import { Field, ProblemNote } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";
import { pieceWords } from "../words/pieces.js";

export function EditForm({ text, onSave, onClose }) {
  const words = useWords(conversationWords);
  const { cancel } = useWords(pieceWords);
  const [content, setContent] = useState(text);
  const [state, setState] = useState({ isBusy: false });
  const form = useRef(null);
  const attempt = useMemo(newKey, [content]); // another text is another attempt
  const isThere = useRef(true);
  useEffect(() => {
    form.current.querySelector("textarea").focus();
    return () => void (isThere.current = false);
  }, []);
  const save = async (event) => {
    event.preventDefault();
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      await onSave(content, attempt, () => isThere.current);
    } catch (problem) {
      setState({ isBusy: false, problem });
    }
  };
  const { typed, escape, warning } = useEscape(onClose);
  const leave = (event) => {
    if (event.key === "Escape" && !event.isComposing && !event.repeat) escape();
  };
  const isNew = content.trim() !== "" && content !== text;
  return html`<form ref=${form} class="edit-form" aria-busy=${state.isBusy} onSubmit=${save} onInput=${typed} onKeyDown=${leave}>
    <${Field} label=${words.editLabel} hint=${words.editHint}>${(own) =>
      html`<textarea ...${own} rows="4" dir="auto" value=${content} onInput=${(event) => setContent(event.target.value)} />`}
    <//>
    ${warning}
    ${state.problem && html`<${ProblemNote} problem=${state.problem} />`}
    <footer>
      <button type="button" onClick=${onClose}>${cancel}</button>
      <button type="submit" class="main" disabled=${!isNew} aria-disabled=${state.isBusy}>${words.editSave}</button>
    </footer>
  </form>`;
}
