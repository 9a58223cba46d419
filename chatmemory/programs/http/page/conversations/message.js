/**
 * `Entry`: a message of a conversation, or a summary with what it stands for folded into it (`folding.js`); `Utterance`:
 * what somebody said.
 *
 * *context* is `{conversationId, wanted, onSave, onBranch, onEdit, onRegenerate}`: the id of the message that the address
 * names, and what is done with one that is to be saved, that a branch is to end with, that is to be said otherwise, or
 * answered again; absent where nothing may be written.
 */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { getSummarization } from "../api.js";
import { useAnswer } from "../asking.js";
import { hrefTo } from "../hash.js";
import { Icon } from "../pieces/icons.js";
import { RichText } from "../pieces/markdown.js";
import { Badge, Loading, Note } from "../pieces/pieces.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";
import { EditForm } from "./edit_form.js";
import { ToolCalls, ToolResult } from "./tool_calls.js";

export function Entry({ entry, context }) {
  if (!entry.covers) return html`<${Message} message=${entry.message} context=${context} />`;
  if (!entry.message) return html`<li class="message summary"><${Covered} entry=${entry} context=${context} /></li>`;
  return html`<${Message} message=${entry.message} context=${context}>
    <${Covered} entry=${entry} context=${context} />
  <//>`;
}

function Message({ message, context, children }) {
  const words = useWords(conversationWords);
  const { id, role, seq, content, timestamp } = message;
  const { conversationId, wanted, onSave, onBranch, onEdit, onRegenerate } = context;
  const save = () => onSave({ role, content, sessionId: conversationId, provenance: { messageIds: [id] } });
  return html`<${Utterance}
    role=${role}
    text=${content}
    at=${timestamp}
    number=${seq}
    href=${hrefTo(["conversations", conversationId], { message: id })}
    label=${words.permalink(seq)}
    isWanted=${id === wanted}
    onSave=${onSave && save}
    onBranch=${onBranch && (() => onBranch(message))}
    onRegenerate=${onRegenerate && role === "assistant" && (() => onRegenerate(message))}
    onEdit=${onEdit && role === "user" && ((...said) => onEdit(message, ...said))}
  >
    <${ToolCalls} metadata=${message.metadata} />
    ${children}
  <//>`;
}

/**
 * What somebody said, here or in a past chat.  *by*: who, where that is known better than by the role.  *href* and *label*:
 * of the link to it.  *onSave*, *onBranch*, *onRegenerate* and *onEdit* (`EditForm`'s): absent where that
 * is not offered.
 */
export function Utterance({
  role, by, text, at, number, href, label, isWanted, onSave, onBranch, onRegenerate, onEdit, children,
}) {
  const words = useWords(conversationWords);
  const [isEdited, setEdited] = useState(false);
  const head = useRef(null);
  const close = () => {
    setEdited(false);
    head.current.querySelector("[aria-expanded]").focus();
  };
  const isBlank = !text.trim();
  return html`<li class=${`message ${role} ${isWanted ? "is-wanted" : ""}`} tabIndex=${isWanted ? "-1" : undefined}>
    <div class="message-head" ref=${head}>
      <span class="role">${by || (words[role] ?? role)}</span>
      <${Time} at=${at} isExact />
      <a class="permalink" href=${href} aria-label=${label} aria-current=${isWanted ? "location" : undefined}>#${number}</a>
      <span class="offers">
        ${onBranch && html`<${HeadButton} name="branch" short="branchShort" onClick=${onBranch} />`}
        ${onRegenerate && html`<${HeadButton} name="regenerate" short="regenerateShort" icon="retry" onClick=${onRegenerate} />`}
        ${onEdit && html`<${HeadButton} name="edit" short="editShort" isOpen=${isEdited}
          onClick=${() => setEdited(!isEdited)} />`}
        ${onSave && !isBlank && html`<${HeadButton} name="save" short="saveShort" onClick=${onSave} />`}
      </span>
    </div>
    ${isEdited ? html`<${EditForm} text=${text} onSave=${onEdit} onClose=${close} />`
      : isBlank ? html`<p class="quiet">${words.noText}</p>`
        : role === "tool" ? html`<${ToolResult} text=${text} isOpen=${isWanted} />` : html`<${RichText} text=${text} />`}
    ${children}
  </li>`;
}

/** Offers to keep what was said, or to go on from it in a branch; a phone has room for the first word only. */
function HeadButton({ name, short, icon = name, isOpen, onClick }) {
  const words = useWords(conversationWords);
  return html`<button type="button" class="bare of-message" aria-label=${words[name]} aria-expanded=${isOpen} onClick=${onClick}>
    <${Icon} name=${icon} /><span class="wide">${words[name]}</span><span class="narrow">${words[short]}</span>
  </button>`;
}

function Covered({ entry, context }) {
  const words = useWords(conversationWords);
  const holdsWanted = context.wanted !== undefined && holds(entry, context.wanted);
  const [isOpen, setOpen] = useState(holdsWanted);
  useEffect(() => {
    if (holdsWanted) setOpen(true);
  }, [holdsWanted, context.wanted]);
  const label = entry.message ? words.covers : words.coveredElsewhere;
  return html`<details class="covered" open=${isOpen} onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${label}${entry.covers.length > 0 && html` <${Badge}>${entry.covers.length}<//>`}</summary>
    ${isOpen && html`
      ${entry.message && html`<${AboutSummary} entry=${entry} conversationId=${context.conversationId} />`}
      <ol class="messages">
        ${entry.covers.map((inner) => html`<${Entry} key=${inner.summaryId ?? inner.message.id} entry=${inner} context=${context} />`)}
      </ol>
    `}
  </details>`;
}

/** What is to be known of a summary besides the messages that are shown: those deleted, those further up, those forgotten. */
function AboutSummary({ entry, conversationId }) {
  const words = useWords(conversationWords);
  const { value, isLoading } = useAnswer(
    (options) => getSummarization(conversationId, entry.message.id, options),
    [conversationId, entry.message.id],
  );
  if (isLoading) return html`<${Loading} />`;
  if (!value) return null;
  const absent = value.summarizedMessageIds.length - entry.covers.length;
  return html`
    ${value.isStale && html`<${Note} kind="warning">${words.stale}<//>`}
    ${value.messagesDeleted && html`<p class="quiet small">${words.coversDeleted}</p>`}
    ${!value.messagesDeleted && absent > 0 && html`<p class="quiet small">${words.coversOlder(absent)}</p>`}
  `;
}

function holds(entry, id) {
  return entry.covers?.some((inner) => inner.message?.id === id || holds(inner, id)) ?? false;
}
