/**
 * `MessageWindow`: the stretch of a conversation that is on the page.
 *
 * It opens at the newest messages, or where one message is; it is moved by pages, follows what is stored meanwhile, and
 * never holds more than some hundred messages, however long the conversation is.
 */

import { getMessages, getSummarization } from "../api.js";
import { until } from "../asking.js";
import { Observable } from "../observable.js";
import { followEvents } from "./events.js";

const PAGE = 100;
const SEEKING_PAGE = 500;
const MOST = 600;

export class MessageWindow {
  /**
   * What is shown: `messages` (oldest first), `hasOlder`, `isAtEnd`, `busy` ("opening", "seeking", "older", "newer" or
   * null), `problem`, `read` (how many were looked through), `isMissing` (the wanted one is not there), `unseen` (how
   * many are newer than the window), `link` ("live", "broken" as long as it is mended, or "lost"), `wasCleared`.
   */
  state = new Observable({ messages: [], hasOlder: false, isAtEnd: true, busy: "opening", read: 0, unseen: 0, link: "broken" });

  #id;
  #onNews;
  #latest = 0; // the seq of the newest message that was ever heard of
  #stop = () => {};
  #latestWork = () => {};
  #following = null;

  /** *onNews(message)* hears of every message that is stored while the window is open; null: all were cleared. */
  constructor(conversationId, onNews) {
    this.#id = conversationId;
    this.#onNews = onNews;
  }

  /** Show the message *wanted*, or the newest ones. */
  open(wanted) {
    const { messages } = this.state.value;
    if (wanted && messages.some(({ id }) => id === wanted)) return;
    this.#change({ messages: [], hasOlder: false, isMissing: false });
    this.#run(wanted ? "seeking" : "opening", (signal) => (wanted ? this.#seek(wanted, signal) : this.#newest(signal)));
  }

  /** Show the beginning, and hand the id of the first message to *onFound*. */
  first(onFound) {
    this.#run("opening", async (signal) => this.#behind(0, await this.#page({ newerThan: 0, limit: PAGE, signal }), 0, onFound));
  }

  /** Show what was said from *instant* (in milliseconds) on, and hand the id of the first such message to *onFound*. */
  at(instant, onFound) {
    this.#run("opening", async (signal) => {
      // Numbers and times grow together, so it is found by halving.
      let low = 0;
      let high = this.#latest;
      while (high - low > PAGE) {
        const middle = Math.floor((low + high) / 2);
        const { messages } = await this.#page({ newerThan: middle, limit: 1, signal });
        if (messages.length && Date.parse(messages[0].timestamp) < instant) low = messages[0].seq;
        else high = middle;
      }
      const page = await this.#page({ newerThan: low, limit: 2 * PAGE, signal });
      return this.#behind(low, page, instant, onFound);
    });
  }

  older() {
    const { messages } = this.state.value;
    this.#run("older", async (signal) => {
      const page = await this.#page({ olderThan: messages[0].seq, limit: PAGE, signal });
      return () => {
        const all = [...page.messages, ...this.state.value.messages];
        const isAtEnd = this.state.value.isAtEnd && all.length <= MOST;
        this.#change({ messages: all.slice(0, MOST), hasOlder: page.older !== null, isAtEnd });
      };
    });
  }

  newer() {
    const { messages } = this.state.value;
    this.#run("newer", async (signal) => {
      const page = await this.#page({ newerThan: messages.at(-1).seq, limit: PAGE, signal });
      return () => {
        const all = [...this.state.value.messages, ...page.messages];
        const isAtEnd = page.messages.length === 0 || page.newer >= this.#latest;
        const hasOlder = this.state.value.hasOlder || all.length > MOST;
        this.#change({ messages: all.slice(-MOST), hasOlder, isAtEnd, ...(isAtEnd && { unseen: 0 }) });
      };
    });
  }

  /** Do once more what has failed. */
  retry() {
    this.#latestWork();
  }

  close() {
    this.#stop();
    this.#following?.abort();
  }

  async #newest(signal) {
    const page = await this.#page({ limit: PAGE, signal });
    return () => {
      this.#change({ messages: page.messages, hasOlder: page.older !== null, isAtEnd: true, unseen: 0 });
      this.#follow(page.newer);
    };
  }

  /** Read older and older pages until the wanted message is there; what lies between is not kept. */
  async #seek(wanted, signal) {
    const newest = await this.#page({ limit: PAGE, signal });
    let page = newest;
    let read = 0;
    while (!page.messages.some(({ id }) => id === wanted)) {
      read += page.messages.length;
      this.#change({ read });
      if (page.older === null) {
        return () => {
          this.#change({ messages: newest.messages, hasOlder: newest.older !== null, isAtEnd: true, isMissing: true });
          this.#follow(newest.newer);
        };
      }
      page = await this.#page({ olderThan: page.older, limit: SEEKING_PAGE, signal });
    }
    return () => {
      this.#change({ messages: page.messages, hasOlder: page.older !== null, isAtEnd: page === newest });
      this.#follow(newest.newer);
    };
  }

  /** Return what shows *page*, which begins behind the number *low*. */
  #behind(low, page, instant, onFound) {
    const { messages } = page;
    const found = messages.find(({ timestamp }) => Date.parse(timestamp) >= instant) ?? messages.at(-1);
    return () => {
      if (!found) return; // everything is older: what is shown stays
      const isAtEnd = page.newer >= this.#latest;
      this.#change({ messages, hasOlder: low > 0, isAtEnd, isMissing: false, ...(isAtEnd && { unseen: 0 }) });
      onFound(found.id);
    };
  }

  #page(query) {
    return getMessages(this.#id, query);
  }

  /** Do *work*, which gives what is to be done with its result; only the latest work counts. */
  #run(busy, work) {
    this.#latestWork = () => this.#run(busy, work);
    this.#stop();
    this.#change({ busy, problem: undefined, read: 0 });
    this.#stop = until(work, {
      then: (apply) => {
        apply();
        this.#change({ busy: null });
      },
      fail: (problem) => this.#change({ busy: null, problem }),
    });
  }

  #follow(newerThan) {
    this.#latest = Math.max(this.#latest, newerThan);
    if (this.#following) return;
    this.#following = new AbortController();
    followEvents(this.#id, {
      newerThan,
      signal: this.#following.signal,
      onMessage: (message) => this.#take(message),
      onCleared: () => this.#clear(),
      onLink: (isUp) => this.#change({ link: isUp ? "live" : "broken" }),
    }).catch(() => this.#change({ link: "lost" }));
  }

  #take(message) {
    this.#latest = Math.max(this.#latest, message.seq);
    const { messages, isAtEnd, unseen } = this.state.value;
    if (messages.length && message.seq <= messages.at(-1).seq) return; // a page was quicker
    if (isAtEnd) {
      const all = [...messages, message];
      this.#change({ messages: all.slice(-MOST), hasOlder: this.state.value.hasOlder || all.length > MOST, wasCleared: false });
    } else {
      this.#change({ unseen: unseen + 1 });
    }
    this.#onNews(message);
    if (message.role === "summary") this.#cover(message.id);
  }

  /** Mark what a new summary stands for; the messages themselves do not come again. */
  async #cover(summaryId) {
    try {
      const { signal } = this.#following;
      const { summarizedMessageIds, messagesDeleted } = await getSummarization(this.#id, summaryId, { signal });
      const covered = new Set(summarizedMessageIds);
      const { messages } = this.state.value;
      this.#change({
        messages: messagesDeleted
          ? messages.filter(({ id }) => !covered.has(id))
          : messages.map((message) => (covered.has(message.id) ? { ...message, coveredBy: summaryId } : message)),
      });
    } catch {
      // The summary then stands beside what it covers until the conversation is opened again.
    }
  }

  #clear() {
    if (this.state.value.wasCleared) return;
    this.#stop();
    this.#change({ messages: [], hasOlder: false, isAtEnd: true, unseen: 0, busy: null, wasCleared: true });
    this.#onNews(null);
  }

  #change(members) {
    this.state.value = { ...this.state.value, ...members };
  }
}
