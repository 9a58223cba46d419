/**
 * `ApiProblem`: what went wrong, as the API says it (RFC 9457), or as this page notices by itself.
 */

import { useWords } from "./words.js";
import { problemWords } from "./words/problem.js";

/**
 * Members: `status` (0: no answer came), `tag`, `title`, `detail`, `retryIsSafe`, `problems` ([{path, message}]).
 */
export class ApiProblem extends Error {
  constructor({ status = 0, tag = "", title = "", detail = "", retryIsSafe = false, problems = [] }) {
    super(detail || title || tag);
    Object.assign(this, { name: "ApiProblem", status, tag, title, detail, retryIsSafe, problems });
  }
}

/** Return a function that says an `ApiProblem` to a person, in a few sentences. */
export function useExplanation() {
  const words = useWords(problemWords);
  return (problem) => explained(problem, words);
}

function explained(problem, words) {
  if (!(problem instanceof ApiProblem)) return `${words.unexpected} ${problem?.message ?? problem}`;
  const known = words[problem.tag];
  const details = problem.problems.map(({ path, message }) => `${path}: ${message}`);
  if (!details.length && problem.detail) details.push(problem.detail);
  return [known ?? problem.title, ...details].filter(Boolean).join(" ");
}
