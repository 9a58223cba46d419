/**
 * The values view: what is kept under a key, newest first, to be changed and deleted.
 *
 * A value belongs to exactly one app, or to none; the memory page shows values among all else that is remembered.
 */

import { html, useLayoutEffect, useState } from "../vendor/preact-htm.js";
import { deleteValue, listValues, restoreMemory } from "../api.js";
import { usePages } from "../asking.js";
import { goTo, hrefTo } from "../hash.js";
import { notify } from "../pieces/notices.js";
import { Badge, Empty, Field, Heading, IconButton, LongText, PagesEnd, useId, useTitle } from "../pieces/pieces.js";
import { RovingList } from "../pieces/roving.js";
import { SearchForm } from "../pieces/search.js";
import { Time } from "../pieces/time.js";
import { useExplanation } from "../problem.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { valueWords } from "../words/values.js";
import { ValueDialog } from "./value_dialog.js";

const PAGE = 50;
const SHOWN_CHARACTERS = 1000;

export function Values({ query: { prefix, app } }) {
  const words = useWords(valueWords);
  const explain = useExplanation();
  const canChange = !useServer()?.readOnly; // as long as that is not known, the server has the say
  const [round, setRound] = useState(0);
  const [open, setOpen] = useState(null); // {memory} to change it, {} for a new one
  const pages = usePages(
    (after, { signal }) =>
      listValues({ prefix, limit: PAGE, after, app, signal }).then(({ memories, next }) => ({ items: memories, next })),
    [prefix, app, round],
  );
  useTitle(words.title);
  const close = () => setOpen(null);
  const done = (notice) => {
    close();
    notify(notice);
    setRound((before) => before + 1);
  };
  const change = (work, notice) => work.then(() => done(notice), (problem) => notify({ kind: "failed", text: explain(problem) }));
  const remove = ({ id, key, namespace: { app } }) => {
    const restore = () => change(restoreMemory(id, null, { app }), { text: words.restored(key) });
    change(deleteValue(key, { app }), { text: words.deleted(key), action: { label: words.undo, run: restore } });
  };
  return html`<div class="page">
    <div class="page-head">
      <${Heading}>${words.title}<//>
      ${canChange && html`<${IconButton} icon="edit" label=${words.newValue} onClick=${() => setOpen({})} />`}
    </div>
    <p class="quiet">${words.what}</p>
    <${ValueFilters} prefix=${prefix} app=${app} onChange=${(query) => goTo(["values"], query)} />
    <section>
      <h2 class="visually-hidden">${words.list}</h2>
      ${pages.items.length > 0 &&
      html`<${RovingList} class="memories" items=".memory">
        ${pages.items.map(
          (memory) => html`<li key=${memory.id}>
            <${ValueCard} memory=${memory} canChange=${canChange} onOpen=${setOpen} onDelete=${remove} />
          </li>`,
        )}
      <//>`}
      ${pages.isEmpty && html`<${Empty} title=${prefix || app ? words.nothingFits : words.nothing} />`}
      <${PagesEnd} pages=${pages} />
    </section>
    ${open &&
    html`<${ValueDialog} memory=${open.memory} app=${app} onSaved=${() => done({ text: words.saved })} onClose=${close} />`}
  </div>`;
}

/** *onChange* gets the beginning of the keys and the app, as an address holds them. */
function ValueFilters({ prefix, app = "", onChange }) {
  const words = useWords(valueWords);
  const isInOneApp = Boolean(useServer()?.namespace.app); // there is nothing to choose
  const [typed, setTyped] = useState(app);
  useLayoutEffect(() => setTyped(app), [app]);
  return html`<${SearchForm}
    label=${words.prefix}
    value=${prefix}
    onSearch=${(text) => onChange({ prefix: text, app: typed.trim() })}
  >
    ${!isInOneApp &&
    html`<${Field} label=${words.app}>
      ${(own) => html`<input
        ...${own}
        type="text"
        maxlength="512"
        placeholder=${words.noApp}
        value=${typed}
        onInput=${(event) => setTyped(event.target.value)}
        onChange=${(event) => onChange({ prefix, app: event.target.value.trim() })}
      />`}
    <//>`}
  <//>`;
}

function ValueCard({ memory, canChange, onOpen, onDelete }) {
  const words = useWords(valueWords);
  const id = useId();
  const own = { "aria-describedby": id };
  const { value } = memory;
  return html`<article class="card memory" aria-labelledby=${id}>
    <h3 id=${id}>${memory.key}</h3>
    <${LongText} text=${typeof value === "string" ? value : JSON.stringify(value, null, 2)} most=${SHOWN_CHARACTERS} />
    <p class="badges">
      ${memory.namespace.app && html`<${Badge}>${memory.namespace.app}<//>`}
      <span class="whence">
        <a class="when" href=${hrefTo(["memories", memory.id])}><${Time} at=${memory.createdAt} /></a>
      </span>
    </p>
    ${canChange &&
    html`<div class="actions">
      <${IconButton} icon="edit" label=${words.change} onClick=${() => onOpen({ memory })} ...${own} />
      <${IconButton} icon="trash" label=${words.delete} onClick=${() => onDelete(memory)} ...${own} />
    </div>`}
  </article>`;
}
