/**
 * What stands in the save dialog (spec 002): the message itself at first, then what was extracted, except where the person
 * has been quicker.  Values only; `save_dialog.js` shows them.
 */

import { fieldsOf, readValue } from "../memories/memory_fields.js";

/** The values of spec 002, until the server has sent its own; the keys are words of the page. */
export const DEFAULTS = {
  defaultCategory: "fact",
  defaultConfidence: 0.8,
  leastConfidence: 0.5,
};

/** Which role a message is extracted for. */
export const speakerOf = (role) => (role === "user" ? "user" : "assistant");

/**
 * The form as it opens.
 *
 * `fields`: as `MemoryFields` shows them.  `touched`: the names of those that the person has changed.  `status`:
 * "loading", "extracted", "nothing" or "failed".  `proposals`: what may be chosen, the message itself at the end.
 * `chosen`: the one that the fields were filled from.
 */
export function openedForm({ role, content }, defaults) {
  const itself = {
    key: defaults.defaultKeys[speakerOf(role)],
    value: content,
    content,
    category: defaults.defaultCategory,
    confidence: defaults.defaultConfidence,
    isItself: true,
  };
  return { status: "loading", fields: fieldsOf(itself), touched: new Set(), proposals: [itself], chosen: itself };
}

/** The form when the extraction has answered. */
export function filledForm(form, extraction, defaults) {
  const found = extraction.proposals.filter(({ confidence }) => confidence >= defaults.leastConfidence);
  if (extraction.key === "" || extraction.confidence < defaults.leastConfidence) return { ...form, status: "nothing" };
  const proposals = [...(found.length ? found : [extraction]), ...form.proposals];
  const [chosen] = proposals;
  const fields = { ...form.fields };
  const proposed = fieldsOf(chosen);
  for (const name of Object.keys(proposed)) {
    if (!form.touched.has(ofField(name))) fields[name] = proposed[name];
  }
  return { ...form, status: "extracted", note: extraction.note, fields, proposals, chosen };
}

/** The form when there is no extraction: what stands there stays. */
export function failedForm(form, problem) {
  return { ...form, status: "failed", problem };
}

/** The form after the person has changed something. */
export function editedForm(form, changes) {
  const touched = new Set([...form.touched, ...Object.keys(changes).map(ofField)]);
  return { ...form, fields: { ...form.fields, ...changes }, touched };
}

/** The form after the person has chosen one of the proposals: it takes every field. */
export function chosenForm(form, chosen) {
  return { ...form, chosen, fields: fieldsOf(chosen) };
}

/** The memory that the form says; *said* is `{role, sessionId, provenance}` of the message. */
export function newMemoryOf({ fields, chosen }, said, defaults) {
  const key = fields.key.trim();
  const { value } = readValue(fields);
  return {
    content: contentOf(key, value, chosen, defaults),
    key: key || null,
    value,
    category: fields.category,
    confidence: fields.confidence,
    sessionId: said.sessionId,
    role: ["user", "assistant", "system", "tool"].includes(said.role) ? said.role : "assistant",
    memoryType: "long_term",
    source: "user_stated",
    provenance: { ...said.provenance, extractor: "person" },
  };
}

/** What a model will read: the proposal's own sentence as long as its value is left alone. */
function contentOf(key, value, chosen, { defaultKeys }) {
  if (JSON.stringify(value) === JSON.stringify(chosen.value)) return chosen.content;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return !key || Object.values(defaultKeys).includes(key) ? text : `${key}: ${text}`;
}

// A value is its text, and whether that is JSON.
function ofField(name) {
  return name === "valueText" || name === "valueIsJson" ? "value" : name;
}
