/**
 * The fields of a memory that a person fills in: what it is about, what is said of it, of which kind, how sure.
 *
 * A value is any JSON.  Most are text and are edited as such; others as JSON, which is checked while it is typed.
 */

import { html } from "../vendor/preact-htm.js";
import { parsedJson } from "../api.js";
import { Field, Select } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { CATEGORIES, fieldWords } from "../words/fields.js";

/** The fields of something that has a key, a value, a category and a confidence. */
export function fieldsOf({ key, value, category, confidence }) {
  const isJson = value !== null && value !== undefined && typeof value !== "string";
  return {
    key: key ?? "",
    valueText: isJson ? JSON.stringify(value, null, 2) : (value ?? ""),
    valueIsJson: isJson,
    category: category ?? "",
    confidence,
  };
}

/** The value that the fields say: `{value}`, null for none; `{problem}` when it is to be JSON and is not. */
export function readValue({ valueText, valueIsJson }) {
  if (!valueIsJson) return { value: valueText === "" ? null : valueText };
  if (valueText.trim() === "") return { value: null };
  try {
    return { value: parsedJson(valueText) };
  } catch (error) {
    return { problem: error.message };
  }
}

/** The value alone, as text or as JSON; *onChange* gets what the person has changed. */
export function ValueField({ fields, onChange }) {
  const words = useWords(fieldWords);
  const { problem } = readValue(fields);
  return html`
    <${Field} label=${words.value} problem=${problem && words.noJson(problem)}>
      ${(own) => html`<textarea
        ...${own}
        rows="3"
        dir="auto"
        class=${fields.valueIsJson ? "code" : ""}
        spellcheck=${!fields.valueIsJson}
        value=${fields.valueText}
        onInput=${(event) => onChange({ valueText: event.target.value })}
      ></textarea>`}
    <//>
    <label class="choice">
      <input
        type="checkbox"
        checked=${fields.valueIsJson}
        onChange=${(event) => onChange({ valueIsJson: event.target.checked })}
      />
      <span>${words.asJson}</span>
    </label>
  `;
}

/**
 * Key, value, category and confidence, each with its label.
 *
 * *onChange* gets what the person has changed, `{key: "..."}` for example.  *needsCategory*: none is no choice.
 * *notes*: what to say below a field, by its name.
 */
export function MemoryFields({ fields, onChange, needsCategory = false, notes = {} }) {
  const words = useWords(fieldWords);
  const confidence = `${Math.round(fields.confidence * 100)}%`;
  const change = (name) => (event) => onChange({ [name]: event.target.value });
  return html`
    <${Field} label=${words.key}>
      ${(own) => html`<input ...${own} type="text" dir="auto" maxlength="512" value=${fields.key} onInput=${change("key")} />`}
    <//>
    ${notes.key}
    <${ValueField} fields=${fields} onChange=${onChange} />
    ${notes.value}
    <${Field} label=${words.category}>
      ${(own) => html`<${Select} ...${own} value=${fields.category} any=${needsCategory ? null : words.none}
        options=${CATEGORIES.map((category) => [category, words[category]])} onChoose=${(category) => onChange({ category })} />`}
    <//>
    ${notes.category}
    <${Field} label=${words.confidence}>
      ${(own) => html`<span class="slider">
        <input
          ...${own}
          type="range"
          min="0"
          max="1"
          step="0.01"
          value=${fields.confidence}
          aria-valuetext=${confidence}
          onInput=${(event) => onChange({ confidence: Number(event.target.value) })}
        />
        <span class="slider-value" aria-hidden="true">${confidence}</span>
      </span>`}
    <//>
    ${notes.confidence}
  `;
}
