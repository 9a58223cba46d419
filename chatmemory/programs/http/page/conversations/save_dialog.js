/**
 * `SaveDialog`: saves a message to long-term memory, with the form already filled in (spec 002).
 */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { extract } from "../api.js";
import { until } from "../asking.js";
import { MemoryFields, readValue } from "../memories/memory_fields.js";
import { notifySaved, useRemember } from "../memories/remembering.js";
import { Dialog } from "../pieces/dialog.js";
import { Icon } from "../pieces/icons.js";
import { notify } from "../pieces/notices.js";
import { ProblemNote, useId } from "../pieces/pieces.js";
import { useExplanation } from "../problem.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { saveWords } from "../words/save.js";
import { chosenForm, DEFAULTS, editedForm, failedForm, filledForm, newMemoryOf, openedForm, speakerOf } from "./save_form.js";

/** *said* is `{role, content, sessionId, provenance}`: a message, and where it stands. */
export function SaveDialog({ said, onClose }) {
  const words = useWords(saveWords);
  const defaultKeys = { user: words.ofUser, assistant: words.ofAssistant };
  const defaults = { ...(useServer()?.saveForm ?? DEFAULTS), defaultKeys };
  const [form, setForm] = useState(() => openedForm(said, defaults));
  const [saving, setSaving] = useState({ isBusy: false });
  const remember = useRemember();
  const explain = useExplanation();
  const isThere = useRef(true);
  useEffect(() => () => void (isThere.current = false), []);
  useEffect(
    () =>
      until((signal) => extract(said.content, speakerOf(said.role), { signal }), {
        then: (extraction) => setForm((before) => filledForm(before, extraction, defaults)),
        fail: (problem) => setForm((before) => failedForm(before, problem)),
      }),
    [],
  );

  const { value, problem } = readValue(form.fields);
  const isWaiting = form.status === "loading" || saving.isBusy;
  const isEmpty = value === null || (typeof value === "string" && !value.trim());
  const save = async (event) => {
    event.preventDefault();
    if (isWaiting || problem || isEmpty) return;
    setSaving({ isBusy: true });
    try {
      const report = await remember(newMemoryOf(form, said, defaults));
      if (isThere.current) onClose();
      notifySaved(report, { stored: words.stored, words }); // also when the dialog was left meanwhile: it is stored
    } catch (failure) {
      if (isThere.current) setSaving({ isBusy: false, problem: failure });
      else notify({ text: explain(failure), kind: "failed" });
    }
  };
  return html`<${Dialog} class="save-dialog" title=${words.title} onClose=${onClose}
      isBusy=${isWaiting}>
    <form onSubmit=${save}>
      <div class="dialog-body">
        <${Status} form=${form} />
        <${Proposals} form=${form} onChoose=${(chosen) => setForm((before) => chosenForm(before, chosen))} />
        <${MemoryFields} fields=${form.fields} needsCategory
          onChange=${(changes) => setForm((before) => editedForm(before, changes))} />
        ${isEmpty && !problem && html`<p class="field-problem" role="status">${words.valueNeeded}</p>`}
        ${saving.problem && html`<${ProblemNote} problem=${saving.problem} />`}
      </div>
      <footer>
        <button type="button" onClick=${onClose}>${words.cancel}</button>
        <button type="submit" class="main" disabled=${Boolean(problem) || isEmpty} aria-disabled=${isWaiting}>
          ${saving.isBusy ? words.saving : words.save}
        </button>
      </footer>
    </form>
  <//>`;
}

/** What became of the extraction, quietly: the form can be used in any case. */
function Status({ form }) {
  const words = useWords(saveWords);
  const icon = form.status === "loading" ? html`<span class="spinner" aria-hidden="true"></span>` : html`<${Icon} name="info" />`;
  const texts = { loading: words.loading, extracted: form.note ?? words.extracted, nothing: words.nothing, failed: words.failed };
  return html`<p class="status" role="status">${icon}<span>${texts[form.status]}</span></p>`;
}

/** More than one thing may have been found; the message itself can always be kept as it is. */
function Proposals({ form, onChoose }) {
  const words = useWords(saveWords);
  const id = useId();
  if (form.proposals.length < 2) return null;
  return html`<div role="group" aria-labelledby=${id}>
    <p class="small" id=${id}>${words.proposals}</p>
    <div class="proposals">
      ${form.proposals.map((proposal) => html`<button type="button" class="chip" aria-pressed=${String(proposal === form.chosen)}
        onClick=${() => onChoose(proposal)}>${proposal.isItself ? words.itself : proposal.key}</button>`)}
    </div>
  </div>`;
}
