/**
 * What a person edits of a memory, as the texts of a form, and back.
 */

import { fieldsOf, readValue } from "./memory_fields.js";

export const fieldNames = ["content", "key", "value", "category", "confidence", "tags"];

/** The texts of the form for a memory. */
export function formOf(memory) {
  return { content: memory.content, ...fieldsOf(memory), tags: memory.tags.join("\n") };
}

/** What the form changes of the memory, as the API takes it: null empties, what is absent stays. */
export function changesOf(form, memory) {
  const before = formOf(memory);
  const touched = fieldNames.filter((name) => differs(form, before, name));
  return Object.fromEntries(touched.map((name) => [name, asked(form, name)]));
}

/** The form over a newer version of the memory: what was typed stays, all else is as it is stored now. */
export function merged(form, memory, newest) {
  const before = formOf(memory);
  const typed = fieldNames.filter((name) => differs(form, before, name));
  return Object.assign(formOf(newest), ...typed.map((name) => part(form, name)));
}

/** What stands in the form for one field: a value is its text, and whether that is JSON. */
export function part(form, name) {
  return name === "value" ? { valueText: form.valueText, valueIsJson: form.valueIsJson } : { [name]: form[name] };
}

/** Whether two forms say different things in one field. */
export function differs(one, other, name) {
  return JSON.stringify(part(one, name)) !== JSON.stringify(part(other, name));
}

/** A memory that a person has written by hand. */
export function newMemoryOf(form) {
  const given = Object.fromEntries(fieldNames.map((name) => [name, asked(form, name)]));
  const origin = { source: "user_stated", role: "user", provenance: { extractor: "person" } };
  return { ...given, memoryType: form.memoryType, ...origin };
}

function asked(form, name) {
  switch (name) {
    case "key":
      return form.key.trim() || null;
    case "value":
      return readValue(form).value;
    case "category":
      return form.category || null;
    case "tags":
      return [...new Set(form.tags.split("\n").map((tag) => tag.trim()).filter(Boolean))];
    default:
      return form[name];
  }
}
