/**
 * `Conversation`: one conversation, as it is said.
 */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { clearConversation, getConversation } from "../api.js";
import { useAnswer } from "../asking.js";
import { goTo, hrefTo } from "../hash.js";
import { Confirmation } from "../pieces/dialog.js";
import { Icon } from "../pieces/icons.js";
import { notify } from "../pieces/notices.js";
import { Empty, Heading, IconButton, Loading, Note, ProblemNote } from "../pieces/pieces.js";
import { useExplanation } from "../problem.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";
import { branchBefore, branchInstead, branchTo } from "./branching.js";
import { FindBar } from "./find_bar.js";
import { fold } from "./folding.js";
import { Entry } from "./message.js";
import { MessageWindow } from "./message_window.js";
import { SaveDialog } from "./save_dialog.js";

const NEAR_END_PX = 80; // whoever reads the last lines wants to see what comes next

export function Conversation({ id, wanted, onMessage, onChanged }) {
  const explain = useExplanation();
  const words = useWords(conversationWords);
  const mayWrite = useServer()?.readOnly !== true;
  const news = useRef();
  news.current = (message) => (message ? onMessage(message) : onChanged());
  const shown = useMemo(() => new MessageWindow(id, (message) => news.current(message)), [id]);
  const state = shown.state.use();
  const [saved, setSaved] = useState(null);
  const [isClearing, setClearing] = useState(false);
  const [isFinding, setFinding] = useState(false);
  useEffect(() => shown.open(wanted), [shown, wanted]);
  useEffect(() => () => shown.close(), [shown]);
  const pane = useScrolling(state, wanted);

  const entries = useMemo(() => fold(state.messages), [state.messages]);
  const isThere = useRef(true);
  useEffect(() => () => void (isThere.current = false), []);
  // Who has gone elsewhere meanwhile is told of the branch, and stays there.
  const opened = (branchId, text, isAwaited = () => true) => {
    const link = { label: words.openBranch, href: hrefTo(["conversations", branchId]) };
    const isHere = isThere.current && isAwaited();
    notify({ text, ...(!isHere && { link }) });
    onChanged();
    if (isHere) goTo(["conversations", branchId]);
  };
  const isBranching = useRef(false);
  const branch = async (begin, text) => {
    if (isBranching.current) return;
    isBranching.current = true;
    try {
      const branchId = await begin();
      if (branchId === null) notify({ text: words.nothingBefore, kind: "failed" });
      else opened(branchId, text);
    } catch (problem) {
      notify({ text: explain(problem), kind: "failed" });
    } finally {
      isBranching.current = false;
    }
  };
  const writing = {
    onSave: setSaved,
    onBranch: (message) => branch(() => branchTo(id, message), words.branched),
    onRegenerate: (message) => branch(() => branchBefore(id, message), words.regenerated),
    onEdit: async (message, content, attempt, isAwaited) =>
      opened(await branchInstead(id, message, content, attempt), words.edited, isAwaited),
  };
  const context = { conversationId: id, wanted, ...(mayWrite && writing) };
  const toMessage = (messageId) => goTo(["conversations", id], { message: messageId });
  const toFirst = () => shown.first(toMessage);
  const toLatest = () => {
    if (wanted) goTo(["conversations", id]);
    else shown.open();
  };
  return html`<div class="pane conversation" ref=${pane}>
    <header class="pane-head">
      <a class="back" href=${hrefTo(["conversations"])} aria-label=${words.back}><${Icon} name="back" /></a>
      <${Heading}>${id}<//>
      <${LinkState} state=${state} />
      <a class="button with-icon model-link" href=${hrefTo(["conversations", id], { view: "model" })} aria-label=${words.modelView}
        title=${words.modelView}><${Icon} name="eye" /><span class="only-wide">${words.modelViewShort}</span></a>
      <button type="button" class="bare with-icon" aria-label=${words.find} title=${words.find} aria-expanded=${isFinding}
        onClick=${() => setFinding(!isFinding)}><${Icon} name="search" /></button>
      ${mayWrite && state.messages.length > 0 &&
      html`<${IconButton} icon="trash" label=${words.clear} isBare onClick=${() => setClearing(true)} />`}
    </header>
    ${isFinding && html`<${FindBar} id=${id} wanted=${wanted} onFirst=${toFirst} onDate=${(instant) => shown.at(instant, toMessage)} />`}
    <${Beginning} state=${state} older=${() => shown.older()} first=${toFirst} />
    <ol class="messages">
      ${entries.map((entry) => html`<${Entry} key=${entry.summaryId ?? entry.message.id} entry=${entry} context=${context} />`)}
    </ol>
    <${End} state=${state} newer=${() => shown.newer()} toLatest=${toLatest} retry=${() => shown.retry()} />
    ${saved && html`<${SaveDialog} said=${saved} onClose=${() => setSaved(null)} />`}
    ${isClearing && html`<${Clearing} id=${id} onClose=${() => setClearing(false)}
      onDone=${onChanged} />`}
  </div>`;
}

function LinkState({ state }) {
  const words = useWords(conversationWords);
  if (state.busy === "opening" || !state.messages.length) return null;
  const text = words[state.link];
  return html`<span class=${`link-state ${state.link}`} role="img" aria-label=${text} title=${text}></span>`;
}

function Beginning({ state, older, first }) {
  const words = useWords(conversationWords);
  if (state.busy === "opening") return html`<${Loading} />`;
  if (state.busy === "seeking") return html`<${Loading} label=${words.seeking(state.read)} />`;
  if (state.busy === "older") return html`<${Loading} />`;
  if (state.hasOlder) {
    return html`<p class="pages-end">
      <button type="button" onClick=${older}>${words.older}</button>
      <button type="button" onClick=${first}>${words.toFirst}</button>
    </p>`;
  }
  return state.messages.length > 0 && html`<p class="beginning">${words.beginning}</p>`;
}

function End({ state, newer, toLatest, retry }) {
  const words = useWords(conversationWords);
  const isBehind = !state.isAtEnd && state.messages.length > 0;
  return html`
    ${state.isMissing && html`<${Note} kind="warning">${words.missing}<//>`}
    ${state.problem && html`<${ProblemNote} problem=${state.problem} retry=${retry} />`}
    ${state.wasCleared && html`<${Empty} title=${words.wasCleared} />`}
    ${isBehind && html`<p class="pages-end">
      <button type="button" disabled=${state.busy} onClick=${newer}>${words.newer}</button>
      <button type="button" onClick=${toLatest}>${state.unseen ? words.unseen(state.unseen) : words.toLatest}</button>
    </p>`}
  `;
}

function Clearing({ id, onClose, onDone }) {
  const words = useWords(conversationWords);
  const { value, problem } = useAnswer((options) => getConversation(id, options), [id]);
  const [withBranches, setWithBranches] = useState(false);
  const done = (report) => {
    onClose();
    const too = report.clearedToo.length ? ` ${words.clearedToo(report.clearedToo)}` : "";
    const still = report.stillSharedBy.length ? ` ${words.stillShared(report.stillSharedBy)}` : "";
    notify({ text: words.cleared(report.messages) + too + still });
    onDone();
    goTo(["conversations"], {}, { replace: true });
  };
  return html`<${Confirmation} title=${words.clearTitle} label=${words.clear}
    act=${() => clearConversation(id, { withBranches })} onDone=${done} onClose=${onClose}>
    ${value && html`<p>${words.clearWhat(value.messageCount)}</p>`}
    <label class="choice">
      <input type="checkbox" checked=${withBranches} onChange=${(event) => setWithBranches(event.target.checked)} />
      <span>${words.clearWithBranches}</span>
    </label>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
  <//>`;
}

/**
 * Keep what is read where it is: at the wanted message, at the end, or, when older messages come in above, in its place.
 * Gives the ref of the element that scrolls.
 */
function useScrolling({ messages, isAtEnd }, wanted) {
  const pane = useRef(null);
  const drawn = useRef([]); // what the document shows until this drawing is done
  const arrived = useRef(); // the message that was scrolled to
  const before = drawn.current === messages || !pane.current ? null : measured(pane.current);
  useLayoutEffect(() => {
    const element = pane.current;
    const [first] = drawn.current;
    drawn.current = messages;
    const target = wanted !== arrived.current && wanted && element.querySelector(".is-wanted");
    if (target) {
      arrived.current = wanted;
      target.scrollIntoView({ block: "center" });
      target.focus({ preventScroll: true });
    } else if (!first || (isAtEnd && before?.isNearEnd)) {
      element.scrollTop = element.scrollHeight;
    } else if (before && messages.length && messages[0].id !== first.id) {
      element.scrollTop = before.top + element.scrollHeight - before.height;
    }
  }, [messages, wanted]);
  return pane;
}

function measured({ scrollTop: top, scrollHeight: height, clientHeight }) {
  return { top, height, isNearEnd: height - top - clientHeight < NEAR_END_PX };
}
