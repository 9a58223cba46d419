/**
 * New messages of a conversation as they are stored: server-sent events, read by hand, because `EventSource` sends no token.
 */

import { credentials, eventsAddress, problemOf } from "../api.js";
import { ApiProblem } from "../problem.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const LONGEST_SILENCE_MS = 75_000; // several heartbeats: the connection is dead, though nobody has said so

/**
 * Follow a conversation until *signal* is aborted, connecting again as often as it must.
 *
 * `onMessage(message)`: each once, in order.  `onCleared()`.  `onLink(isUp)`: whether events arrive at present.
 * Ends with an `ApiProblem` that repetition would not mend.  A hidden tab holds no connection: a browser opens six to a host
 * at most, and then no other tab of the page would get an answer.
 */
export async function followEvents(conversationId, { newerThan, signal, onMessage, onCleared, onLink }) {
  let last = newerThan;
  let pause = FIRST_PAUSE_MS;
  const take = ({ event, data }) => {
    pause = FIRST_PAUSE_MS;
    if (event === "cleared") onCleared();
    if (event !== "message") return;
    const message = JSON.parse(data);
    if (message.seq <= last) return;
    last = message.seq;
    onMessage(message);
  };
  while (!signal.aborted) {
    if (document.hidden) {
      await visible(signal);
      continue;
    }
    try {
      await follow(eventsAddress(conversationId, last), { signal, take, onOpen: () => onLink(true) });
    } catch (error) {
      if (error.tag === "ConversationNotFoundError") onCleared(); // while nobody was told; it may be begun again
      else if (isFinal(error)) throw error;
    }
    if (signal.aborted) return;
    if (document.hidden) continue;
    onLink(false);
    await wait(pause, signal);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

/** Hand every event of one connection to *take*; returns when the server ends it, throws when it breaks. */
async function follow(address, { signal, take, onOpen }) {
  const connection = new AbortController();
  const stop = () => connection.abort();
  const stopWhenHidden = () => document.hidden && stop();
  signal.addEventListener("abort", stop);
  document.addEventListener("visibilitychange", stopWhenHidden);
  let silence = setTimeout(stop, LONGEST_SILENCE_MS);
  try {
    const headers = { Accept: "text/event-stream", ...credentials() };
    const response = await fetch(address, { headers, signal: connection.signal, cache: "no-store" });
    if (!response.ok) throw await problemOf(response, headers);
    onOpen();
    const events = new EventParser(take);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      clearTimeout(silence);
      silence = setTimeout(stop, LONGEST_SILENCE_MS);
      events.feed(part.value);
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", stop);
    document.removeEventListener("visibilitychange", stopWhenHidden);
    stop();
  }
}

/** Makes events `{id, event, data}` of text that arrives in any pieces. */
export class EventParser {
  #text = "";
  #event = {};

  constructor(take) {
    this.take = take;
  }

  feed(text) {
    const lines = (this.#text + text).split("\n");
    this.#text = lines.pop();
    for (const line of lines) this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  #line(line) {
    if (line === "") {
      const { data, event = "message", id } = this.#event;
      this.#event = {};
      if (data !== undefined || event !== "message") this.take({ id, event, data });
      return;
    }
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (name === "") return; // a comment: a heartbeat
    this.#event[name] = name === "data" && "data" in this.#event ? `${this.#event.data}\n${value}` : value;
  }
}

// Too many at once (429), and a server that is leaving or gone (408, 5xx, no answer), are worth another attempt.
function isFinal(error) {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500 && ![408, 429].includes(error.status);
}

function visible(signal) {
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true, signal });
    signal.addEventListener("abort", resolve, { once: true });
  });
}

function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
