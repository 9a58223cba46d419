/**
 * `PastHits`: what a search in past chats finds, best first, each with the signals that put it there.
 */

import { html } from "../vendor/preact-htm.js";
import { searchPastChats } from "../api.js";
import { useAnswer } from "../asking.js";
import { hrefTo } from "../hash.js";
import { Badge, Empty, Loading, ProblemNote } from "../pieces/pieces.js";
import { RovingList } from "../pieces/roving.js";
import { HowFound, Signal, Signals } from "../pieces/search.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";
import { pastWords } from "../words/past_chats.js";
import { searchWords } from "../words/search.js";
import { toolName } from "./tools.js";

const MOST = 30;
const SHOWN_CHARACTERS = 280;
const RARE_SIGNALS = ["neighbour", "conversation", "speaker", "date"]; // worth their room where they say something

export function PastHits({ asked, chosen, turn }) {
  const words = useWords(pastWords);
  const { q, project, format } = asked;
  const { value, problem, isLoading, retry } = useAnswer(
    (options) => {
      const filters = { projects: project ? [project] : [], formats: format ? [format] : [] };
      return searchPastChats({ query: q, limit: MOST, ...filters }, options);
    },
    [q, project, format],
  );
  if (problem) return html`<${ProblemNote} problem=${problem} retry=${retry} />`;
  if (isLoading) return html`<${Loading} />`;
  if (!value.hits.length) return html`<${Empty} title=${words.nothingFound}><p>${value.reason}</p><//>`;
  return html`
    <${HowFound} found=${value}>${words.found(value.hits.length)} · <//>
    <${RovingList} tag="ol" class="choices" items="li > a">
      ${value.hits.map((hit) => html`<${Hit} key=${hit.prompt.id} hit=${hit} asked=${asked}
        isChosen=${hit.prompt.conversationId === chosen && String(hit.prompt.turnIndex) === turn} />`)}
    <//>
  `;
}

function Hit({ hit, asked, isChosen }) {
  const words = useWords(pastWords);
  const roles = useWords(conversationWords);
  const { semantic: meaning, lexical: byWords } = useWords(searchWords);
  const { prompt, score, signals, alsoIn } = hit;
  const shown = [...prompt.content.slice(0, 2 * SHOWN_CHARACTERS)].slice(0, SHOWN_CHARACTERS).join("");
  const rare = RARE_SIGNALS.filter((name) => signals[name] > 0);
  return html`<li class="hit">
    <a href=${hrefTo(["past-chats", prompt.conversationId], { ...asked, turn: prompt.turnIndex })}
        aria-current=${isChosen ? "true" : undefined}>
      <span class="choice-facts">
        <strong>${roles[prompt.role] ?? prompt.role}</strong>
        <${Badge}>${toolName(prompt.format)}<//>
        ${prompt.project && html`<span class="choice-id">${prompt.project}</span>`}
        <${Time} at=${prompt.timestamp} />
      </span>
      <span class="choice-title hit-text">${shown}${shown.length < prompt.content.length ? "…" : ""}</span>
    </a>
    <${Signals} score=${score.toFixed(2)}>
      <${Signal} name=${byWords} value=${signals.lexical} />
      <${Signal} name=${meaning} value=${signals.semantic} />
      ${rare.map((name) => html`<${Signal} key=${name} name=${words[name]} value=${signals[name]} />`)}
    <//>
    ${alsoIn.length > 0 && html`<p class="small quiet">${words.alsoIn(alsoIn.length)}</p>`}
  </li>`;
}
