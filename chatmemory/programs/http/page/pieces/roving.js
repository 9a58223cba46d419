/**
 * `RovingList`: a list that is one stop of the Tab key, in which the arrow keys, Home and End go from item to item.
 *
 * An item is a link, or an element with controls of its own, such as a memory.  The controls of the item that is the
 * stop follow it with Tab; those of all other items are left out until their item is the stop.
 */

import { html, useLayoutEffect, useRef } from "../vendor/preact-htm.js";

const CONTROLS = "a[href], button, summary, input, select, textarea";
const TYPED_INTO = "input:not([type=checkbox]), select, textarea";
const STEPS = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  Home: () => 0,
  End: (_, last) => last,
};

/**
 * A list as `tag`, whose items are found by the CSS selector *items*.
 *
 * The stop is the item that had the focus last; before that the one with `aria-current`, or else the first.
 */
export function RovingList({ tag = "ul", items: selector, children, ...own }) {
  const list = useRef(null);
  const stop = useRef(null);
  const items = () => [...list.current.querySelectorAll(selector)];
  const mark = () => {
    const all = items();
    if (!all.includes(stop.current)) stop.current = all.find(isCurrent) ?? all[0] ?? null;
    for (const item of all) allow(item, item === stop.current);
  };
  useLayoutEffect(() => {
    mark();
    // Items come with the next page, and controls come and go inside of an item.
    const observer = new MutationObserver((changes) => {
      const chosen = changes.find(({ type, target }) => type === "attributes" && isCurrent(target));
      if (chosen && !list.current.contains(document.activeElement)) stop.current = chosen.target;
      mark();
    });
    observer.observe(list.current, { childList: true, subtree: true, attributeFilter: ["aria-current"] });
    return () => observer.disconnect();
  }, []);
  const choose = ({ target }) => {
    const item = items().find((one) => one.contains(target));
    if (!item || item === stop.current) return;
    stop.current = item;
    mark();
  };
  const step = (event) => {
    const next = STEPS[event.key];
    const { target } = event;
    if (!next || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (target.closest("dialog") || target.matches(TYPED_INTO)) return; // these keys have a use of their own there
    const all = items();
    const index = all.findIndex((item) => item.contains(target));
    if (index < 0) return;
    event.preventDefault();
    const last = all.length - 1;
    all[Math.min(last, Math.max(0, next(index, last)))].focus();
  };
  return html`<${tag} ref=${list} onfocusin=${choose} onKeyDown=${step} ...${own}>${children}<//>`;
}

function isCurrent(element) {
  return element.getAttribute("aria-current") === "true";
}

/** Let Tab come to *item* and its controls, or to none of them. */
function allow(item, isStop) {
  item.tabIndex = isStop ? 0 : -1;
  for (const control of item.querySelectorAll(CONTROLS)) {
    if (control.closest("dialog")) continue;
    if (isStop) control.removeAttribute("tabindex");
    else control.tabIndex = -1;
  }
}
