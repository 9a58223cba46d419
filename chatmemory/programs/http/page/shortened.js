/**
 * `shortened`: the beginning of a text, on one line.
 */

const MOST_CHARACTERS = 60;

export function shortened(text) {
  const characters = [...text.replace(/\s+/gu, " ").trim()];
  if (characters.length <= MOST_CHARACTERS) return characters.join("");
  return `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…`;
}
