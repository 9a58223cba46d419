/**
 * Texts in the language of the person.
 *
 * The words of a view stand in `words/NAME.js`: an object of `name: [English, Chinese]`, where either is a text or a
 * function that makes one.  `useWords(words)` gives the half that is shown.
 */

import { language, shownLanguage } from "./preferences.js";

/** *words* in the language that is shown, in a component that is drawn again when the language changes. */
export function useWords(words) {
  language.use();
  return inLanguage(words, shownLanguage());
}

const halves = new WeakMap();

/** *words* in the *shown* language. */
function inLanguage(words, shown) {
  if (!halves.has(words)) halves.set(words, { en: half(words, 0), zh: half(words, 1) });
  return halves.get(words)[shown];
}

function half(words, index) {
  return Object.fromEntries(Object.entries(words).map(([name, both]) => [name, both[index]]));
}
