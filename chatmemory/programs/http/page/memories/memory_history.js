/**
 * `MemoryHistory`: what happened to a memory, newest first, what it said before, and the way back from the newest change.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { getMemoryHistory, undoMemory } from "../api.js";
import { useAnswer } from "../asking.js";
import { hrefTo } from "../hash.js";
import { notify } from "../pieces/notices.js";
import { IconButton, Loading, LongText, ProblemNote } from "../pieces/pieces.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { historyWords } from "../words/memory_history.js";

const SHOWN_CHARACTERS = 500;
const UNDOABLE = new Set(["changed", "superseded", "retired", "promoted", "demoted", "pinned", "unpinned"]);

/** It is asked for when somebody unfolds it.  *onChange* gets the memory after a change was taken back. */
export function MemoryHistory({ memory, onChange, canChange }) {
  const words = useWords(historyWords);
  const [isOpen, setOpen] = useState(false);
  return html`<details class="card history" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${words.title}</summary>
    ${isOpen && html`<${Events} memory=${memory} onChange=${onChange} canChange=${canChange} />`}
  </details>`;
}

function Events({ memory, onChange, canChange }) {
  const words = useWords(historyWords);
  const [round, setRound] = useState(0);
  const [state, setState] = useState({ isBusy: false });
  const { id, version, pinned, memoryType, supersededAt } = memory;
  // Whatever is changed on the card above is told here, too.
  const questions = [id, version, pinned, memoryType, supersededAt, round];
  const { value, problem, isLoading, retry } = useAnswer(({ signal }) => getMemoryHistory(id, { signal }), questions);
  if (problem?.status === 404) return html`<p class="quiet">${words.nothing}</p>`; // the log reaches no further back
  if (problem) return html`<${ProblemNote} problem=${problem} retry=${retry} />`;
  if (isLoading) return html`<${Loading} />`;
  const newest = value.events.at(-1);
  const undo = async () => {
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      onChange(await undoMemory(id, newest.number)); // by its number: another change may have come meanwhile
      setState({ isBusy: false });
      notify({ text: words.undone });
    } catch (failure) {
      setState({ isBusy: false, problem: failure });
    }
    setRound(round + 1);
  };
  return html`
    ${state.problem && html`<${ProblemNote} problem=${state.problem} />`}
    <ol class="history-events">
      ${value.events.toReversed().map((event) => html`<${Change} key=${event.number} event=${event} earlier=${value.earlier}>
        ${canChange && event === newest && UNDOABLE.has(event.action) &&
        html`<${IconButton} icon="back" label=${words.undo} aria-disabled=${state.isBusy} onClick=${undo} />`}
      <//>`)}
    </ol>
  `;
}

function Change({ event, earlier, children }) {
  const words = useWords(historyWords);
  const { action, storedAt, who, reason, by, version } = event;
  const before = action === "changed" && earlier.find((one) => one.version + 1 === version);
  return html`<li>
    <p class="row">
      <strong>${words[action] ?? action}</strong>
      <${Time} at=${storedAt} isExact />
      ${who && html`<span class="quiet">${words.who(who)}</span>`}
      ${reason && html`<span class="quiet">${words[`by_${reason}`] ?? reason}</span>`}
      ${by && html`<a href=${hrefTo(["memories", by])}>${words.successor}</a>`}
      ${children}
    </p>
    ${before && html`<div class="earlier">
      <span class="quiet small">${words.saidBefore}</span>
      <${LongText} text=${before.content} most=${SHOWN_CHARACTERS} />
    </div>`}
  </li>`;
}
