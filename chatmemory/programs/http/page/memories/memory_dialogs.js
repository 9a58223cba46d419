/**
 * `EditMemory` and `NewMemory`: the dialogs in which a person writes what is remembered.
 *
 * A correction is meant for the version that the person has seen.  When somebody else was faster, what was typed stays,
 * and what is stored by now stands below each field that differs.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { getMemory, updateMemory } from "../api.js";
import { Dialog } from "../pieces/dialog.js";
import { notify } from "../pieces/notices.js";
import { Field, Note, ProblemNote, Select } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { TYPES } from "../words/fields.js";
import { memoryWords } from "../words/memories.js";
import { MemoryFields, readValue } from "./memory_fields.js";
import { changesOf, differs, fieldNames, formOf, merged, newMemoryOf, part } from "./memory_form.js";
import { notifySaved, useRemember } from "./remembering.js";

const BLANK = { content: "", key: null, value: null, category: null, tags: [], confidence: 1 };

/** Correct a memory; *onChange* gets it as it is stored: after the correction, or as somebody else has left it. */
export function EditMemory({ memory, onChange, onClose }) {
  const words = useWords(memoryWords);
  const [base, setBase] = useState(memory);
  const [form, setForm] = useState(formOf(memory));
  const [conflict, setConflict] = useState(null);

  const save = async () => {
    const changes = changesOf(form, base);
    if (Object.keys(changes).length) {
      try {
        onChange(await updateMemory(base.id, changes, { version: base.version }));
      } catch (problem) {
        if (problem.status !== 412) throw problem;
        const newest = await getMemory(base.id);
        setForm(merged(form, base, newest));
        setBase(newest);
        setConflict(formOf(newest));
        onChange(newest);
        return;
      }
      notify({ text: words.saved });
    }
    onClose();
  };

  const storedNow = (name) =>
    conflict &&
    differs(form, conflict, name) &&
    html`<div class="stored-now">
      <span>${words.storedNow} <q>${shown(conflict, name, words)}</q></span>
      <button type="button" onClick=${() => setForm({ ...form, ...part(conflict, name) })}>${words.takeIt}</button>
    </div>`;
  return html`<${MemoryForm}
    title=${words.editTitle}
    form=${form}
    setForm=${setForm}
    save=${save}
    onClose=${onClose}
    notes=${Object.fromEntries(fieldNames.map((name) => [name, storedNow(name)]))}
  >
    ${conflict && html`<div role="alert"><${Note} kind="warning">${words.changedMeanwhile}<//></div>`}
  <//>`;
}

/** Write a memory by hand, in the *app* unless the person names another; *onSaved* is called when it is stored. */
export function NewMemory({ app = "", onSaved, onClose }) {
  const words = useWords(memoryWords);
  const [form, setForm] = useState({ ...formOf(BLANK), memoryType: "long_term", app });
  const remember = useRemember();

  const save = async () => {
    const report = await remember(newMemoryOf(form), { app: form.app.trim() || undefined });
    notifySaved(report, { stored: words.saved, words });
    onSaved();
    onClose();
  };

  return html`<${MemoryForm} title=${words.newTitle} form=${form} setForm=${setForm} save=${save} onClose=${onClose}>
    <${Field} label=${words.memoryType}>
      ${(own) => html`<${Select} ...${own} value=${form.memoryType} options=${TYPES.map((type) => [type, words[type]])}
        onChoose=${(memoryType) => setForm({ ...form, memoryType })} />`}
    <//>
    <${Field} label=${words.app} hint=${words.appHint}>
      ${(own) => html`<input ...${own} type="text" maxlength="512" value=${form.app} 
        onInput=${(event) => setForm({ ...form, app: event.target.value })} />`}
    <//>
  <//>`;
}

/** The form of both; *notes*: what to say below a field, by its name. */
function MemoryForm({ title, form, setForm, save, onClose, notes = {}, children }) {
  const words = useWords(memoryWords);
  const [state, setState] = useState({ isBusy: false });
  const change = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const submit = async (event) => {
    event.preventDefault();
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      await save();
      setState({ isBusy: false });
    } catch (problem) {
      setState({ isBusy: false, problem });
    }
  };
  const isWrong = !form.content.trim() || Boolean(readValue(form).problem);
  return html`<${Dialog} title=${title} onClose=${onClose} isBusy=${state.isBusy}>
    <form onSubmit=${submit}>
      <div class="dialog-body">
        ${children}
        <${Field} label=${words.content}>
          ${(own) => html`<textarea
            ...${own}
            autofocus
            required
            rows="4"
            value=${form.content}
            onInput=${change("content")}
          ></textarea>`}
        <//>
        ${notes.content}
        <${MemoryFields} fields=${form} notes=${notes} onChange=${(changes) => setForm({ ...form, ...changes })} />
        <${Field} label=${words.tags} hint=${words.tagsHint}>
          ${(own) => html`<textarea ...${own} rows="2" value=${form.tags} onInput=${change("tags")}></textarea>`}
        <//>
        ${notes.tags}
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

function shown(form, name, words) {
  if (name === "confidence") return `${Math.round(form.confidence * 100)}%`;
  if (name === "category") return words[form.category || "none"];
  return (name === "value" ? form.valueText : form[name]) || words.nothingThere;
}
