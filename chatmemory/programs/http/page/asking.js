/**
 * Hooks that ask the API: `useAnswer` for one answer, `usePages` for a list that comes in pages.
 *
 * An answer that comes after its component has gone, or after the question has changed, is thrown away.  They ask before
 * the browser draws the view (`useLayoutEffect`), not after it: the answer is what takes long.
 */

import { useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";

/**
 * Ask once, and again whenever *questions* change.  *ask* takes `{signal}`.
 *
 * Gives `{value, problem, isLoading, retry, change}`: `retry()` asks anew, `change(f)` replaces the value by `f(value)`.
 * The last value stays while the same question is asked again.
 */
export function useAnswer(ask, questions) {
  const [state, setState] = useState({ isLoading: true });
  const [round, setRound] = useState(0);
  const asked = useRef(round);
  useLayoutEffect(() => {
    const isAgain = asked.current !== round;
    asked.current = round;
    setState((before) => ({ value: isAgain ? before.value : undefined, isLoading: true }));
    return until((signal) => ask({ signal }), {
      then: (value) => setState({ value, isLoading: false }),
      fail: (problem) => setState((before) => ({ value: before.value, problem, isLoading: false })),
    });
  }, [...questions, round]);
  return {
    ...state,
    retry: () => setRound((number) => number + 1),
    change: (how) => setState((before) => ({ ...before, value: how(before.value) })),
  };
}

/**
 * Ask for pages of a list; *ask* takes `(after, {signal})` and gives `{items, next}`.
 *
 * Gives `{items, hasMore, isEmpty, isLoading, problem, more, retry, change}`: `isEmpty` is true once it is known,
 * `more()` asks for the next page (or repeats one that failed), `retry()` begins anew, `change(f)` replaces the items
 * by `f(items)`.
 */
export function usePages(ask, questions) {
  const [state, setState] = useState({ items: [], next: null, isLoading: true });
  const [round, setRound] = useState(0);
  const stop = useRef(() => {});
  const load = (after, items) => {
    setState({ items, next: after, isLoading: true });
    stop.current = until((signal) => ask(after, { signal }), {
      // What was changed while the page was on its way stays changed.
      // A page may have looked without finding anything: the next one goes on.
      then: (page) =>
        !page.items.length && page.next !== null
          ? load(page.next, items)
          : setState((before) => ({ items: [...before.items, ...page.items], next: page.next, isLoading: false })),
      fail: (problem) => setState((before) => ({ ...before, problem, isLoading: false })),
    });
  };
  useLayoutEffect(() => {
    load(null, []);
    return () => stop.current();
  }, [...questions, round]);
  return {
    items: state.items,
    hasMore: state.next !== null,
    isEmpty: !state.items.length && !state.isLoading && !state.problem,
    isLoading: state.isLoading,
    problem: state.problem,
    more: () => state.isLoading || load(state.next, state.items),
    retry: () => setRound((number) => number + 1),
    change: (how) => setState((before) => ({ ...before, items: how(before.items) })),
  };
}

/** Do *work* until it ends or the function that this returns is called, after which nobody hears of it. */
export function until(work, { then, fail }) {
  const controller = new AbortController();
  const unless = (act) => (what) => controller.signal.aborted || act(what);
  work(controller.signal).then(unless(then), unless(fail));
  return () => controller.abort();
}
