/**
 * `ValueDialog`: the dialog in which a person writes what is kept under a key.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { putValue } from "../api.js";
import { fieldsOf, readValue, ValueField } from "../memories/memory_fields.js";
import { Dialog } from "../pieces/dialog.js";
import { Field, ProblemNote } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { valueWords } from "../words/values.js";

/** Change the value of *memory*, or, without one, write a new value in the *app*; *onSaved* is called when it is stored. */
export function ValueDialog({ memory, app = "", onSaved, onClose }) {
  const words = useWords(valueWords);
  const [form, setForm] = useState(fieldsOf(memory ?? { key: null, value: null }));
  const [state, setState] = useState({ isBusy: false });
  const { value = null, problem } = readValue(form);
  const key = form.key.trim();
  const submit = async (event) => {
    event.preventDefault();
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      // The key of what is there stands as it was written, and the value goes where it came from.
      await putValue(memory?.key ?? key, value, { app: memory?.namespace.app ?? app });
      onSaved();
    } catch (refusal) {
      setState({ isBusy: false, problem: refusal });
    }
  };
  const isWrong = !key || value === null || Boolean(problem);
  return html`<${Dialog} title=${memory ? words.changeTitle : words.newTitle} onClose=${onClose} isBusy=${state.isBusy}>
    <form onSubmit=${submit}>
      <div class="dialog-body">
        <${Field} label=${words.key}>
          ${(own) => html`<input
            ...${own}
            type="text"
            required
            maxlength="512"
            readonly=${Boolean(memory)}
            value=${form.key}
            onInput=${(event) => setForm({ ...form, key: event.target.value })}
          />`}
        <//>
        <${ValueField} fields=${form} onChange=${(changes) => setForm({ ...form, ...changes })} />
        ${memory && html`<p class="hint">${words.earlierStays}</p>`}
        ${state.problem && html`<${ProblemNote} problem=${state.problem} />`}
      </div>
      <footer>
        <button type="button" onClick=${onClose}>${words.cancel}</button>
        <button type="submit" class="main" disabled=${isWrong} aria-disabled=${state.isBusy}>
          ${state.isBusy ? words.saving : words.save}
        </button>
      </footer>
    </form>
  <//>`;
}
