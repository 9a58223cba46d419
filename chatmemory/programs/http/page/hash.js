/**
 * Where the person is: the part of the address behind `#`, `#/conversations/ID?message=MID` for example.
 */

import { Observable } from "./observable.js";

/** `{path, query}`: the decoded segments, and the parameters as an object. */
export const place = new Observable(read());

addEventListener("hashchange", () => {
  place.value = read();
});

/** Return the address of a place; segments may hold any character, parameters that are empty are left out. */
export function hrefTo(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const parameters = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${parameters && `?${parameters}`}`;
}

/** Go to a place; *replace*: without a further step of the browser's history, for filters for example. */
export function goTo(path, query = {}, { replace = false } = {}) {
  const address = hrefTo(path, query);
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(history.state, "", address);
  place.value = read();
}

function read() {
  const [path, query = ""] = split(location.hash.replace(/^#\/?/, ""), "?");
  return {
    path: path.split("/").filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function split(text, separator) {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a `%` that somebody typed by hand
  }
}
