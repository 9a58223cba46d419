/**
 * `MemoryCard`: one memory, with all that is known of it and all that a person can do with it.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { pinMemory, promoteMemory } from "../api.js";
import { hrefTo } from "../hash.js";
import { notify } from "../pieces/notices.js";
import { Badge, IconButton, LongText, ProblemNote, useId } from "../pieces/pieces.js";
import { Time } from "../pieces/time.js";
import { useExplanation } from "../problem.js";
import { useWords } from "../words.js";
import { memoryWords } from "../words/memories.js";
import { forget } from "./forgetting.js";
import { EditMemory } from "./memory_dialogs.js";
import { Origin } from "./origin.js";

const SHOWN_CHARACTERS = 1000;

/**
 * *onChange* gets the memory as it is after a change.  *children* stand below the text: why it was recalled, say.
 * *isOpen*: with its details unfolded.  *level*: of its heading.
 */
export function MemoryCard({ memory, onChange, canChange = true, isOpen = false, level = 3, children }) {
  const words = useWords(memoryWords);
  const id = useId();
  return html`<article class="card memory" aria-labelledby=${id} tabIndex="-1">
    ${memory.key && html`<${`h${level}`}>${memory.key}<//>`}
    <${LongText} id=${id} text=${memory.content} most=${SHOWN_CHARACTERS} />
    <p class="badges">
      <${Badge} kind=${memory.category ?? "quiet"}>${words[memory.category ?? "none"]}<//>
      <${Badge} kind=${memory.memoryType}>${words[memory.memoryType]}<//>
      ${memory.pinned && html`<${Badge} kind="pinned">${words.pinned}<//>`}
      ${memory.supersededAt && html`<${Badge} kind="superseded">${words.superseded}<//>`}
      ${memory.namespace.app && html`<${Badge}>${memory.namespace.app}<//>`}
      ${memory.tags.map((tag) => html`<span class="tag" key=${tag}>#${tag}</span>`)}
      <span class="quiet small">${words.sure(Math.round(memory.confidence * 100))}</span>
      <span class="whence">
        <${Origin} memory=${memory} />
        <a class="when" href=${hrefTo(["memories", memory.id])}><${Time} at=${memory.createdAt} /></a>
      </span>
    </p>
    ${children}
    <div class="memory-foot">
      <details open=${isOpen}>
        <summary>${words.details}</summary>
        <${Details} memory=${memory} />
      </details>
      ${canChange && html`<${Actions} memory=${memory} onChange=${onChange} describedBy=${id} />`}
    </div>
  </article>`;
}

function Details({ memory }) {
  const words = useWords(memoryWords);
  const { value, provenance } = memory;
  return html`<dl class="facts">
    ${value !== null &&
    html`<dt>${words.value}</dt>
      <dd>${typeof value === "string" ? value : html`<pre>${JSON.stringify(value, null, 2)}</pre>`}</dd>`}
    <dt>${words.source}</dt>
    <dd>${words[memory.source]}</dd>
    ${provenance.extractor && html`<dt>${words.extractor}</dt><dd>${words.extractedBy(provenance.extractor)}</dd>`}
    ${provenance.path && html`<dt>${words.path}</dt><dd><code>${provenance.path}</code></dd>`}
    <dt>${words.created}</dt>
    <dd><${Time} at=${memory.createdAt} isExact /></dd>
    <dt>${words.lastUsed}</dt>
    <dd>${memory.lastAccessed ? html`<${Time} at=${memory.lastAccessed} isExact />` : words.never}</dd>
    <dt>${words.timesUsed}</dt>
    <dd>${memory.accessCount}</dd>
    <dt>${words.app}</dt>
    <dd>${memory.namespace.app || words.noApp}</dd>
    ${memory.supersededAt &&
    html`<dt>${words.trueUntil}</dt>
      <dd>
        <${Time} at=${memory.supersededAt} isExact />
        ${memory.supersededBy && html` <a href=${hrefTo(["memories", memory.supersededBy])}>${words.successor}</a>`}
      </dd>`}
  </dl>`;
}

function Actions({ memory, onChange, describedBy }) {
  const words = useWords(memoryWords);
  const explain = useExplanation();
  const [isEditing, setEditing] = useState(false);
  const [state, setState] = useState({ isBusy: false });
  const change = async (work, said) => {
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      onChange(await work());
      setState({ isBusy: false });
      notify({ text: said });
    } catch (problem) {
      setState({ isBusy: false, problem });
    }
  };
  const leave = (event) => {
    focusNeighbour(event.currentTarget.closest("article"));
    forget(memory, {
      words,
      onProblem: (problem) => notify({ text: `${words.notForgotten} ${explain(problem)}`, kind: "failed" }),
    });
  };
  const own = { "aria-disabled": state.isBusy, "aria-describedby": describedBy };
  return html`<div class="actions">
      <${IconButton} icon="edit" label=${words.edit} onClick=${() => setEditing(true)} ...${own} />
      ${memory.memoryType === "short_term" &&
      html`<${IconButton}
        icon="promote"
        label=${words.promote}
        onClick=${() => change(() => promoteMemory(memory.id), words.promoted)}
        ...${own}
      />`}
      <${IconButton}
        icon="pin"
        label=${memory.pinned ? words.unpin : words.pin}
        onClick=${() =>
          change(() => pinMemory(memory.id, !memory.pinned), memory.pinned ? words.isUnpinned : words.isPinned)}
        ...${own}
      />
      <${IconButton} icon="trash" label=${words.forget} onClick=${leave} ...${own} />
    </div>
    ${state.problem && html`<${ProblemNote} problem=${state.problem} />`}
    ${isEditing && html`<${EditMemory} memory=${memory} onChange=${onChange} onClose=${() => setEditing(false)} />`}`;
}

/** Give the focus to the memory beside the one that is about to go, or to what holds them all. */
function focusNeighbour(article) {
  const item = article.parentElement;
  const neighbour = (item.nextElementSibling ?? item.previousElementSibling)?.querySelector("article");
  (neighbour ?? document.querySelector("main")).focus({ preventScroll: true });
}
