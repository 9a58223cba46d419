/**
 * `PastChats`: what was said with other tools, to read and to search; nothing of it is changed here.
 */

import { html } from "../vendor/preact-htm.js";
import { listPastConversations, pastChats } from "../api.js";
import { useAnswer, usePages } from "../asking.js";
import { goTo, hrefTo } from "../hash.js";
import { Badge, Empty, Heading, Loading, PagesEnd, ProblemNote, useTitle } from "../pieces/pieces.js";
import { RovingList } from "../pieces/roving.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { taskWords } from "../words/before_task.js";
import { conversationWords } from "../words/conversations.js";
import { pastWords } from "../words/past_chats.js";
import { pieceWords } from "../words/pieces.js";
import { BeforeTask } from "./before_task.js";
import { PastChat } from "./past_chat.js";
import { PastFilters } from "./past_filters.js";
import { PastHits } from "./past_hits.js";
import { toolName } from "./tools.js";

const PAGE = 50;
const TASK = "task"; // the view of what came of it before
const INDEX_COMMAND = "pastchats-memory index";

export function PastChats({ path, query }) {
  const words = useWords(pastWords);
  const { open } = useWords(taskWords);
  const [chosen] = path;
  const statistics = useAnswer((options) => pastChats(options), []);
  useTitle(words.title);
  if (statistics.problem?.tag === "PastChatsNotIndexedError") return html`<${NotIndexed} retry=${statistics.retry} />`;
  if (statistics.problem) {
    return html`<div class="page"><${Heading}>${words.title}<//>
      <${ProblemNote} problem=${statistics.problem} retry=${statistics.retry} />
    </div>`;
  }
  if (!statistics.value) return html`<${Loading} />`;
  const { q, project, format, turn, view, task } = query;
  const asked = { q, project, format };
  const isBeside = chosen !== undefined || view === TASK; // what the address leads to stands beside the list
  const isFull = q && !isBeside;
  return html`<div class=${`panes ${isBeside ? "has-detail" : isFull ? "is-full" : ""}`}>
    <section class="pane pane-list" aria-label=${words.title}>
      <header class="list-head"><${Heading} level=${isBeside ? 2 : 1} isHere=${!isBeside}>${words.title}<//>
        <a class=${`button ${isFull ? "" : "only-narrow"}`} href=${hrefTo(["past-chats"], { ...asked, view: TASK })}>${open}</a></header>
      <${PastFilters} asked=${asked} statistics=${statistics.value}
        onChange=${(changes) => goTo(["past-chats"], { ...asked, ...changes }, { replace: !("q" in changes) })} />
      ${q
        ? html`<${PastHits} asked=${asked} chosen=${chosen} turn=${turn} />`
        : html`<${List} asked=${asked} chosen=${chosen} />`}
    </section>
    <section class="pane-detail" aria-label=${chosen ?? open}>
      ${chosen === undefined
        ? html`<${BeforeTask} task=${task} isHere=${isBeside} asked=${asked} onAsk=${(task) => goTo(["past-chats"], { ...asked, view: TASK, task })}>
            <${Summed} statistics=${statistics.value} /><//>`
        : html`<${PastChat} key=${chosen} id=${chosen} wanted=${turn} asked=${asked} />`}
    </section>
  </div>`;
}

function NotIndexed({ retry }) {
  const words = useWords(pastWords);
  const pieces = useWords(pieceWords);
  return html`<div class="page narrow">
    <${Heading}>${words.notIndexed}<//>
    <p>${words.notIndexedWhy}</p>
    <pre class="card code">${INDEX_COMMAND}</pre>
    <p>${words.notIndexedThen}</p>
    <p><button type="button" onClick=${retry}>${pieces.retry}</button></p>
  </div>`;
}

function Summed({ statistics }) {
  const words = useWords(pastWords);
  return html`
    <p>${words.summed(statistics)}</p>
    ${statistics.lastIndexedAt && html`<p class="small">${words.lastIndexed}: <${Time} at=${statistics.lastIndexedAt} /></p>`}
  `;
}

function List({ asked, chosen }) {
  const words = useWords(pastWords);
  const { project, format } = asked;
  const pages = usePages(async (after, { signal }) => {
    const { conversations, next } = await listPastConversations({ after, limit: PAGE, project, format, signal });
    return { items: conversations, next };
  }, [project, format]);
  if (pages.isEmpty) return html`<${Empty} title=${words.none} />`;
  return html`
    <${RovingList} class="choices" items="li > a">
      ${pages.items.map((conversation) => html`<${Choice} key=${conversation.conversationId} conversation=${conversation}
        asked=${asked} isChosen=${conversation.conversationId === chosen} />`)}
    <//>
    <${PagesEnd} pages=${pages} />
  `;
}

function Choice({ conversation, asked, isChosen }) {
  const words = useWords(pastWords);
  const { noText } = useWords(conversationWords);
  const { conversationId: id, opening, project, format, turns, lastAt } = conversation;
  return html`<li><a href=${hrefTo(["past-chats", id], asked)} aria-current=${isChosen ? "true" : undefined}>
    <span class="choice-title">${opening || noText}</span>
    <span class="choice-facts">
      <${Badge}>${toolName(format)}<//>
      ${project && html`<span class="choice-id">${project}</span>`}
      <span>${words.turns(turns)}</span>
      <${Time} at=${lastAt} />
    </span>
  </a></li>`;
}
