/**
 * `Observable`: a value that components show and that others change.
 */

import { useLayoutEffect, useState } from "./vendor/preact-htm.js";

export class Observable {
  #value;
  #listeners = new Set();

  constructor(value) {
    this.#value = value;
  }

  get value() {
    return this.#value;
  }

  set value(value) {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  /** Call *listener* with every later value, until the function that this returns is called. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The value, in a component that is to be drawn again when it changes. */
  use() {
    const [, draw] = useState(0);
    const seen = this.#value;
    useLayoutEffect(() => {
      const stop = this.listen(() => draw((count) => count + 1));
      // It may have changed between the drawing and this effect.
      if (!Object.is(seen, this.#value)) draw((count) => count + 1);
      return stop;
    }, []);
    return seen;
  }
}
