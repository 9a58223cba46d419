/**
 * `useTurns`: the turns of one past chat, from its beginning or from around the turn that is wanted, in pages both ways.
 */

import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { getPastTurns } from "../api.js";
import { until } from "../asking.js";

const PAGE = 100;
const BEFORE_WANTED = 10; // turns that say what the wanted one is about

/**
 * Gives `{turns, hasEarlier, hasLater, busy, problem, earlier, later, retry}`; `busy` is "opening", "earlier", "later" or
 * null, and *wanted* the index of a turn, or null.
 */
export function useTurns(conversationId, wanted) {
  const [state, setState] = useState({ turns: [], busy: "opening" });
  const stop = useRef(() => {});
  const change = (members) => setState((before) => ({ ...before, ...members }));
  const latest = useRef();
  const run = (busy, work) => {
    latest.current = () => run(busy, work);
    stop.current();
    change({ busy, problem: undefined });
    stop.current = until(work, {
      then: (members) => change({ ...members, busy: null }),
      fail: (problem) => change({ problem, busy: null }),
    });
  };
  const page = (newerThan, signal) => getPastTurns(conversationId, { newerThan, limit: PAGE, signal });

  const open = () => {
    if (wanted !== null && state.turns.some(({ turnIndex }) => turnIndex === wanted)) return;
    const start = wanted === null ? -1 : Math.max(-1, wanted - 1 - BEFORE_WANTED);
    setState({ turns: [] });
    run("opening", async (signal) => {
      let { turns, next } = await page(start, signal);
      // A turn behind the end of the chat: better its beginning than nothing.
      const isBehind = !turns.length && start >= 0;
      if (isBehind) ({ turns, next } = await page(-1, signal));
      return { turns, hasEarlier: start >= 0 && !isBehind, hasLater: next !== null };
    });
  };
  const later = () =>
    run("later", async (signal) => {
      const { turns, next } = await page(state.turns.at(-1).turnIndex, signal);
      return { turns: [...state.turns, ...turns], hasLater: next !== null };
    });
  const earlier = () =>
    run("earlier", async (signal) => {
      const first = state.turns[0].turnIndex;
      let start = first;
      let before = [];
      // Turns that were edited away leave gaps in the numbers, so that a whole stretch may be empty.
      while (!before.length && start >= 0) {
        start = Math.max(-1, start - PAGE - 1);
        before = (await page(start, signal)).turns.filter(({ turnIndex }) => turnIndex < first);
      }
      return { turns: [...before, ...state.turns], hasEarlier: start >= 0 };
    });
  useEffect(() => {
    open();
    return () => stop.current();
  }, [conversationId, wanted]);
  return { ...state, earlier, later, retry: () => latest.current() };
}
