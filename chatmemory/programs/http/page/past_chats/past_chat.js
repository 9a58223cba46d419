/**
 * `PastChat`: one past chat, as it was said.
 */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Utterance } from "../conversations/message.js";
import { SaveDialog } from "../conversations/save_dialog.js";
import { hrefTo } from "../hash.js";
import { Icon } from "../pieces/icons.js";
import { Badge, Heading, Loading, Note, ProblemNote } from "../pieces/pieces.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { pastWords } from "../words/past_chats.js";
import { useTurns } from "./past_turns.js";
import { toolName } from "./tools.js";

/** *wanted*: the index of a turn, as the address says it; *asked*: what the list beside it shows. */
export function PastChat({ id, wanted, asked }) {
  const words = useWords(pastWords);
  const mayWrite = useServer()?.readOnly !== true;
  const index = /^\d+$/.test(wanted ?? "") ? Number(wanted) : null;
  const chat = useTurns(id, index);
  const [saved, setSaved] = useState(null);
  const pane = useRef(null);
  const [first] = chat.turns;
  const isThere = chat.turns.some(({ turnIndex }) => turnIndex === index);
  useEffect(() => {
    const target = isThere && pane.current.querySelector(".is-wanted");
    target?.scrollIntoView?.({ block: "center" });
    target?.focus?.({ preventScroll: true });
  }, [isThere, index]);
  return html`<div class="pane" ref=${pane}>
    <header class="pane-head">
      <a class="back" href=${hrefTo(["past-chats"], asked)} aria-label=${words.back}><${Icon} name="back" /></a>
      <div class="pane-title">
        <${Heading}>${id}<//>
        ${first && html`<p class="choice-facts"><${Badge}>${toolName(first.format)}<//><span class="choice-id">${first.source}</span></p>`}
      </div>
    </header>
    <${Beginning} chat=${chat} />
    <ol class="messages">
      ${chat.turns.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} asked=${asked} isWanted=${turn.turnIndex === index}
        onSave=${mayWrite ? setSaved : null} />`)}
    </ol>
    <${End} chat=${chat} isMissing=${index !== null && !isThere && !chat.busy && !chat.problem} />
    ${saved && html`<${SaveDialog} said=${saved} onClose=${() => setSaved(null)} />`}
  </div>`;
}

function Beginning({ chat }) {
  const words = useWords(pastWords);
  if (chat.busy === "opening" || chat.busy === "earlier") return html`<${Loading} />`;
  if (chat.hasEarlier) {
    return html`<p class="pages-end"><button type="button" onClick=${chat.earlier}>${words.earlier}</button></p>`;
  }
  return chat.turns.length > 0 && html`<p class="beginning">${words.beginning}</p>`;
}

function End({ chat, isMissing }) {
  const words = useWords(pastWords);
  if (chat.problem) return html`<${ProblemNote} problem=${chat.problem} retry=${chat.retry} />`;
  if (chat.busy === "later") return html`<${Loading} />`;
  if (chat.busy) return null;
  if (!chat.turns.length) return html`<${Note} kind="warning">${words.absent}<//>`;
  return html`
    ${isMissing && html`<${Note} kind="warning">${words.missing}<//>`}
    ${chat.hasLater
      ? html`<p class="pages-end"><button type="button" onClick=${chat.later}>${words.later}</button></p>`
      : html`<p class="beginning">${words.end}</p>`}
  `;
}

function Turn({ turn, asked, isWanted, onSave }) {
  const words = useWords(pastWords);
  const { conversationId, turnIndex, role, speaker, content, timestamp, source } = turn;
  const save = () =>
    onSave({ role, content, sessionId: conversationId, provenance: { path: `${source}#${turnIndex}` } });
  return html`<${Utterance}
    role=${role}
    by=${speaker}
    text=${content}
    at=${timestamp}
    number=${turnIndex}
    href=${hrefTo(["past-chats", conversationId], { ...asked, turn: turnIndex })}
    label=${words.turnLink(turnIndex)}
    isWanted=${isWanted}
    onSave=${onSave && save}
  />`;
}
