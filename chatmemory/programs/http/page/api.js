/**
 * The API, one function per operation that the page asks.  Each gives the JSON that was answered, or throws an `ApiProblem`.
 *
 * The last argument of each is `{signal}` for those who may lose interest; operations on memories also take `app`,
 * which narrows them to one app.
 */

import { Observable } from "./observable.js";
import { ApiProblem } from "./problem.js";

const TOKEN = "chatmemory.token";

/** Whether the server asks for a token that it was not given, or not the right one. */
export const tokenWanted = new Observable(false);

/** Use *token* from now on, until the browser's tab is closed. */
export function useToken(token) {
  sessionStorage.setItem(TOKEN, token);
  tokenWanted.value = false;
}

/** The headers that say who asks. */
export function credentials() {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

export const settings = (options) => send("GET", "/settings", options);

/** Return an id as a segment of an address; one of dots, which a browser would take for a folder, with `=` before it. */
const segment = (id) => encodeURIComponent(/^=*\.{1,2}$/.test(id) ? `=${id}` : id);

// Conversations

const conversation = (id) => `/conversations/${segment(id)}`;

export const listConversations = ({ limit, after, ...options } = {}) =>
  send("GET", "/conversations", { query: { limit, after }, ...options });

export const getConversation = (id, options) => send("GET", conversation(id), options);

export const getMessages = (id, { view = "full", limit, olderThan, newerThan, ...options } = {}) =>
  send("GET", `${conversation(id)}/messages`, { query: { view, limit, olderThan, newerThan }, ...options });

export const addMessages = (id, messages, options) =>
  send("POST", `${conversation(id)}/messages`, { body: { messages }, ...options });

/** Begin a branch with a copy of the messages up to one. */
export const forkConversation = (id, newId, at, options) =>
  send("POST", `${conversation(id)}/fork`, { body: { newId, at }, ...options });

/** *withBranches*: clear the branches, too, that hold a message of it. */
export const clearConversation = (id, { withBranches, ...options } = {}) =>
  send("DELETE", `${conversation(id)}/messages`, { query: { withBranches }, ...options });

export const getSummarization = (id, messageId, options) =>
  send("GET", `${conversation(id)}/summaries/${segment(messageId)}`, options);

/** The conversations that a conversation was forked from, and those forked from it, as a tree: `{root, conversations, isWhole}`. */
export const getBranches = (id, options) => send("GET", `${conversation(id)}/branches`, options);

/** `search`: `{query, conversationId, since, until, limit, after}`. */
export const searchMessages = (search, { app, ...options } = {}) =>
  send("POST", "/messages/search", { query: { app }, body: search, ...options });

/** What a model would receive; `asked`: `{conversationId, userMessage, preview}`. */
export const buildContext = (asked, options) => send("POST", "/context", { body: asked, ...options });

/** Where the events of a conversation come from; `events.js` reads them. */
export const eventsAddress = (id, newerThan) => address(`${conversation(id)}/events`, { newerThan });

// Memories

const memory = (id) => `/memories/${segment(id)}`;

export const extract = (content, role, options) =>
  send("POST", "/memory/extract", { body: { content, role }, ...options });

export const listMemories = ({
  limit, after, memoryType, category, sessionId, tag, containing, asOf, source, superseded, app, ...options
} = {}) =>
  send("GET", "/memories", {
    query: { limit, after, memoryType, category, sessionId, tag, containing, asOf, source, superseded, app },
    ...options,
  });

/** How many memories there are in all and by category, type and source. */
export const memoryFacets = ({ memoryType, category, source, superseded, app, ...options } = {}) =>
  send("GET", "/memory/facets", { query: { memoryType, category, source, superseded, app }, ...options });

export const remember = (memories, { dedup, attributes, app, ...options } = {}) =>
  send("POST", "/memories", { query: { app }, body: { memories, dedup, attributes }, ...options });

export const restoreMemory = (id, insteadOf, { app, ...options } = {}) =>
  send("POST", `${memory(id)}/restore`, { query: { app }, body: { insteadOf }, ...options });

export const recall = (question, { app, ...options } = {}) =>
  send("POST", "/memories/recall", { query: { app }, body: question, ...options });

export const getMemory = (id, { app, ...options } = {}) => send("GET", memory(id), { query: { app }, ...options });

export const updateMemory = (id, changes, { app, ...options } = {}) =>
  send("PATCH", memory(id), { query: { app }, body: changes, ...options });

export const promoteMemory = (id, { app, ...options } = {}) =>
  send("POST", `${memory(id)}/promote`, { query: { app }, body: {}, ...options });

/** What happened to a memory, and what it said before: `{events, earlier}`, both oldest first. */
export const getMemoryHistory = (id, { app, ...options } = {}) =>
  send("GET", `${memory(id)}/history`, { query: { app }, ...options });

/** Take the change back that has this *number* in the history. */
export const undoMemory = (id, number, { app, ...options } = {}) =>
  send("POST", `${memory(id)}/undo`, { query: { app }, body: { number }, ...options });

export const pinMemory = (id, pinned, { app, ...options } = {}) =>
  send("PUT", `${memory(id)}/pin`, { query: { app }, body: { pinned }, ...options });

/** `keepalive: true` lets it be sent while the page is being left. */
export const forgetMemory = (id, { app, ...options } = {}) =>
  send("DELETE", memory(id), { query: { app }, ...options });

/** `origin`: `{sessionId}`, `{messageId}` or `{path}`, or several of them, all of which have to fit. */
export const forgetWhere = (origin, { app, ...options } = {}) =>
  send("POST", "/memories/forget", { query: { app }, body: origin, ...options });

export const forgetAll = ({ app, ...options } = {}) =>
  send("POST", "/memories/forget-all", { query: { app }, body: {}, ...options });

// Values by key

const valueOf = (key) => `/values/${segment(key)}`;

export const listValues = ({ prefix, limit, after, app, ...options } = {}) =>
  send("GET", "/values", { query: { prefix, limit, after, app }, ...options });

export const putValue = (key, value, { app, ...options } = {}) =>
  send("PUT", valueOf(key), { query: { app }, body: { value }, ...options });

export const deleteValue = (key, { app, ...options } = {}) =>
  send("DELETE", valueOf(key), { query: { app }, ...options });

// Past chats

export const pastChats = (options) => send("GET", "/past-chats", options);

export const listPastConversations = ({ limit, after, project, format, ...options } = {}) =>
  send("GET", "/past-chats/conversations", { query: { limit, after, project, format }, ...options });

export const getPastTurns = (id, { limit, newerThan, ...options } = {}) =>
  send("GET", `/past-chats/conversations/${segment(id)}`, { query: { limit, newerThan }, ...options });

export const searchPastChats = (question, options) =>
  send("POST", "/past-chats/search", { body: question, ...options });

export const recallPastChats = (task, options) => send("POST", "/past-chats/recall", { body: task, ...options });

/**
 * Send one request.
 *
 * `version`: the one that the change is meant for; `idempotencyKey`: the same for every repetition of one write.
 */
async function send(method, path, { query, body, version, idempotencyKey, signal, keepalive } = {}) {
  const headers = { Accept: "application/json", ...credentials() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (version !== undefined) headers["If-Match"] = `"${version}"`;
  if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
  const request = { method, headers, signal, keepalive, body: body && JSON.stringify(body), cache: "no-store" };
  let response;
  try {
    response = await fetch(address(path, query), request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiProblem({ tag: "Unreachable", retryIsSafe: method === "GET" });
  }
  if (response.ok) return readJson(response);
  throw await problemOf(response, headers);
}

/**
 * Return the `ApiProblem` of a refusal, and ask for a token where that is what is missing.
 *
 * `headers` are those of the request: a refusal may come after another token has been given.
 */
export async function problemOf(response, { Authorization }) {
  if (response.status === 401 && Authorization === credentials().Authorization) tokenWanted.value = true;
  const members = await readJson(response).catch(() => ({ title: response.statusText }));
  return new ApiProblem({ ...members, status: response.status });
}

/** Parse JSON; a number that JavaScript would round, as an id of 64 bits, stays as it is written. */
export function parsedJson(text) {
  return JSON.parse(text, (_, value, { source } = {}) =>
    typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER && source && JSON.rawJSON
      ? JSON.rawJSON(source)
      : value,
  );
}

async function readJson(response) {
  const text = await response.text();
  try {
    return parsedJson(text);
  } catch {
    throw new ApiProblem({ status: response.status, tag: "NoJson" });
  }
}

function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
