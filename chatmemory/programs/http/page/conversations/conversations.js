/**
 * `Conversations`: the list of them, last changed first, beside the one that is being read.
 */

import { html } from "../vendor/preact-htm.js";
import { listConversations } from "../api.js";
import { usePages } from "../asking.js";
import { goTo, hrefTo } from "../hash.js";
import { Empty, Heading, IconButton, PagesEnd, useTitle } from "../pieces/pieces.js";
import { RovingList } from "../pieces/roving.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";
import { ModelView } from "../model_view/model_view.js";
import { ConversationFilters } from "./conversation_filters.js";
import { Conversation } from "./conversation.js";
import { FoundMessages } from "./found_messages.js";

const PAGE = 50;
const MODEL_VIEW = "model"; // the view of a conversation that shows what a model would see

export function Conversations({ path, query }) {
  const words = useWords(conversationWords);
  const [chosen] = path;
  const pages = usePages(async (after, { signal }) => {
    const { conversations, next } = await listConversations({ after, limit: PAGE, signal });
    return { items: conversations, next };
  }, []);
  useTitle(chosen ?? words.title);
  const { q, since, until, app } = query;
  const asked = { q, since, until, app };
  // What has changed moves to the front, as the server will list it next time.
  const toFront = (id, message) =>
    pages.change((items) => {
      const item = items.find(({ conversation }) => conversation.conversationId === id);
      if (!item) return items;
      const { conversation } = item;
      const now = { ...conversation, messageCount: conversation.messageCount + 1, updatedAt: new Date().toISOString() };
      const opening = item.opening || (message.role === "user" ? message.content : "");
      return [{ ...item, opening, conversation: now }, ...items.filter((other) => other !== item)];
    });
  return html`<div class=${`panes ${chosen ? "has-detail" : asked.q ? "is-full" : ""}`}>
    <section class="pane pane-list" aria-label=${words.title}>
      <header class="list-head">
        <${Heading} level=${chosen ? 2 : 1} isHere=${!chosen}>${words.title}<//>
        <${IconButton} icon="retry" label=${words.refresh} isBare onClick=${pages.retry} />
      </header>
      <${ConversationFilters} asked=${asked}
        onChange=${(changes) => goTo(["conversations", ...path], { ...query, ...changes }, { replace: !("q" in changes) })} />
      ${asked.q
        ? html`<${FoundMessages} asked=${asked} wanted=${query.message} />`
        : html`<${List} pages=${pages} chosen=${chosen} />`}
    </section>
    <section class="pane-detail" aria-label=${chosen ?? words.choose}>
      ${chosen === undefined
        ? html`<${Empty} title=${words.choose} />`
        : query.view === MODEL_VIEW
          ? html`<${ModelView} key=${`${chosen} ${MODEL_VIEW}`} id=${chosen} query=${query} />`
          : html`<${Conversation} key=${chosen} id=${chosen} wanted=${query.message}
            onMessage=${(message) => toFront(chosen, message)} onChanged=${pages.retry} />`}
    </section>
  </div>`;
}

function List({ pages, chosen }) {
  const words = useWords(conversationWords);
  if (pages.isEmpty) {
    return html`<${Empty} title=${words.none}><p>${words.noneYet}</p><//>`;
  }
  return html`
    <${RovingList} class="choices" items="li > a">
      ${pages.items.map(({ conversation, opening }) => html`<${Choice} key=${conversation.conversationId}
        conversation=${conversation} opening=${opening} isChosen=${conversation.conversationId === chosen} />`)}
    <//>
    <${PagesEnd} pages=${pages} />
  `;
}

function Choice({ conversation, opening, isChosen }) {
  const words = useWords(conversationWords);
  const { conversationId: id, messageCount, updatedAt, forkedFrom } = conversation;
  return html`<li><a href=${hrefTo(["conversations", id])} aria-current=${isChosen ? "true" : undefined}>
    <span class="choice-title" dir="auto">${opening.trim() || id}</span>
    <span class="choice-facts">
      ${opening.trim() && html`<span class="choice-id">${id}</span>`}
      ${forkedFrom && html`<span class="choice-id">${words.branchOf(forkedFrom.conversationId)}</span>`}
      <span>${words.messages(messageCount)}</span>
      <${Time} at=${updatedAt} />
    </span>
  </a></li>`;
}
