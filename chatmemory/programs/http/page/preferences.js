/**
 * What a person has chosen for this browser: the language and the theme; `auto` follows the system.
 */

import { Observable } from "./observable.js";

export const LANGUAGES = ["auto", "en", "zh"];
export const THEMES = ["auto", "light", "dark"];

export const language = remembered("language", LANGUAGES);
export const theme = remembered("theme", THEMES);

/** The language that texts are shown in: `en` or `zh`. */
export function shownLanguage() {
  if (language.value !== "auto") return language.value;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Keep the document in step with both choices. */
export function applyPreferences() {
  const root = document.documentElement;
  const apply = () => {
    root.lang = shownLanguage() === "zh" ? "zh-CN" : "en";
    if (theme.value === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme.value;
  };
  apply();
  language.listen(apply);
  theme.listen(apply);
}

function remembered(name, choices) {
  const key = `chatmemory.${name}`;
  const stored = attempt(() => localStorage.getItem(key));
  const choice = new Observable(choices.includes(stored) ? stored : choices[0]);
  choice.listen((value) => attempt(() => localStorage.setItem(key, value)));
  return choice;
}

// A browser that blocks storage throws at the first touch; a choice then lasts as long as the page.
function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}
