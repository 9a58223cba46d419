/**
 * `BeforeTask`: what worked and what failed before, for a task that somebody is about to begin, and the block for a prompt.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { recallPastChats } from "../api.js";
import { useAnswer } from "../asking.js";
import { hrefTo } from "../hash.js";
import { Icon } from "../pieces/icons.js";
import { RichText } from "../pieces/markdown.js";
import { Badge, Empty, Heading, IconButton, Loading, ProblemNote } from "../pieces/pieces.js";
import { HowFound, SearchForm } from "../pieces/search.js";
import { Time } from "../pieces/time.js";
import { useWords } from "../words.js";
import { taskWords } from "../words/before_task.js";
import { toolName } from "./tools.js";

const SHOWN_CHARACTERS = 600;

/** *task*: what the address says; *isHere*: whether it leads here; *asked*: what the list beside it shows; `onAsk` gets another task. */
export function BeforeTask({ task, isHere, asked, onAsk, children }) {
  const words = useWords(taskWords);
  return html`<div class="pane task">
    <header class="pane-head">
      <a class="back" href=${hrefTo(["past-chats"], asked)} aria-label=${words.back}><${Icon} name="back" /></a>
      <div class="pane-title"><${Heading} level=${isHere ? 1 : 2} isHere=${isHere}>${words.title}<//><p class="small quiet only-wide">${words.about}</p></div>
    </header>
    <${SearchForm} label=${words.label} value=${task} onSearch=${onAsk} />
    ${task ? html`<${Recalled} task=${task} asked=${asked} />` : html`<${Empty} title=${words.example}>${children}<//>`}
  </div>`;
}

function Recalled({ task, asked }) {
  const words = useWords(taskWords);
  const { value, problem, isLoading, retry } = useAnswer(
    (options) => recallPastChats({ query: task }, options),
    [task],
  );
  if (problem) return html`<${ProblemNote} problem=${problem} retry=${retry} />`;
  if (isLoading) return html`<${Loading} />`;
  if (!value.exchanges.length) return html`<${Empty} title=${words.nothing}><p lang="en">${value.reason}</p><//>`;
  return html`
    <${HowFound} found=${value}>${words.found(value.exchanges.length)} · <//>
    <ol class="exchanges">
      ${value.exchanges.map((exchange) => html`<${Exchange} key=${exchange.hit.prompt.id} exchange=${exchange} asked=${asked} />`)}
    </ol>
    <${Block} recalled=${value} />
  `;
}

function Exchange({ exchange, asked }) {
  const words = useWords(taskWords);
  const { hit, question, worked, confirmation, failures } = exchange;
  const shown = question ?? hit.prompt;
  return html`<li class="card exchange">
    <p class="choice-facts">
      <${Badge}>${toolName(shown.format)}<//>
      ${shown.project && html`<span class="choice-id">${shown.project}</span>`}
      <${Time} at=${shown.timestamp} />
    </p>
    <${Said} turn=${shown} asked=${asked} />
    ${failures.map(({ tried, report }) => html`<section class="verdict failed" key=${report.id}>
      <h2><${Icon} name="close" /> ${words.failed}</h2>
      ${tried.map((turn) => html`<${Said} key=${turn.id} turn=${turn} asked=${asked} />`)}
      <${Said} turn=${report} asked=${asked} label=${words.report} />
    </section>`)}
    ${worked.length > 0 && html`<section class="verdict worked">
      <h2><${Icon} name="done" /> ${confirmation ? words.worked : words.answered}</h2>
      ${worked.map((turn) => html`<${Said} key=${turn.id} turn=${turn} asked=${asked} />`)}
      ${confirmation && html`<${Said} turn=${confirmation} asked=${asked} label=${words.confirmation} />`}
    </section>`}
  </li>`;
}

function Said({ turn, asked, label }) {
  const words = useWords(taskWords);
  const { content, conversationId, turnIndex } = turn;
  return html`<div class="said">
    ${label && html`<strong class="small">${label}</strong>`}
    <${RichText} text=${content} most=${SHOWN_CHARACTERS} />
    <a class="small" href=${hrefTo(["past-chats", conversationId], { ...asked, turn: turnIndex })}
      aria-label=${words.sourceOf(turnIndex)}>${words.source}</a>
  </div>`;
}

/** The text that a model receives, to be taken along. */
function Block({ recalled }) {
  const words = useWords(taskWords);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(recalled.text);
    setCopied(true);
  };
  return html`<details class="card block">
    <summary>${words.block(recalled.tokens, recalled.leftOut)}</summary>
    <p class="row"><${IconButton} icon=${isCopied ? "done" : "copy"} label=${isCopied ? words.copied : words.copy} onClick=${copy} /></p>
    <pre class="text" tabindex="0">${recalled.text}</pre>
  </details>`;
}
