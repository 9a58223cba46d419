/**
 * `ModelView`: what a model would receive if the user said something now, and why; under other settings, or as of a time.
 *
 * Everything that is asked stands in the address, so that it can be kept and sent.
 */

import { html } from "../vendor/preact-htm.js";
import { buildContext, getConversation } from "../api.js";
import { useAnswer } from "../asking.js";
import { goTo, hrefTo } from "../hash.js";
import { Icon } from "../pieces/icons.js";
import { Empty, Heading, Loading, LongText, ProblemNote } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { modelWords } from "../words/model_view.js";
import { ForkTree } from "./fork_tree.js";
import { LeftOutMessages, Memories } from "./left_out.js";
import { Parts } from "./parts.js";
import { Trial } from "./trial.js";

const SHOWN_CHARACTERS = 2_000;
const NUMBERS = ["tokens", "windowMessages", "summarizeEveryN", "keepLast", "tokenBudget"];

export function ModelView({ id, query }) {
  const words = useWords(modelWords);
  const { value: conversation, problem, retry } = useAnswer((options) => getConversation(id, options), [id]);
  const change = (changes) => goTo(["conversations", id], { ...query, ...changes }, { replace: !("say" in changes) });
  return html`<div class="pane model-view">
    <header class="pane-head">
      <a class="back always" href=${hrefTo(["conversations", id])} aria-label=${words.back} title=${words.back}><${Icon} name="back" /></a>
      <div class="pane-title"><${Heading}>${words.title}<//><p class="small quiet pane-id">${id}</p></div>
    </header>
    <p class="small quiet">${words.about}</p>
    ${problem && html`<${ProblemNote} problem=${problem} retry=${retry} />`}
    ${conversation && html`
      <${Trial} query=${query} conversation=${conversation} onChange=${change} />
      ${query.say ? html`<${Seen} id=${id} query=${query} />` : html`<${Empty} title=${words.start} />`}
      <${ForkTree} id=${id} query=${query} />
    `}
    ${!conversation && !problem && html`<${Loading} />`}
  </div>`;
}

/** What the form asks for, as the API takes it. */
function previewOf(query) {
  const { strategy, asOf } = query;
  const numbers = NUMBERS.filter((name) => query[name]).map((name) => [name, Number(query[name])]);
  return { ...Object.fromEntries(numbers), ...(strategy && { strategy }), ...(asOf && { asOf }) };
}

function Seen({ id, query }) {
  const words = useWords(modelWords);
  const preview = previewOf(query);
  const { value, problem, isLoading, retry } = useAnswer(
    (options) => buildContext({ conversationId: id, userMessage: query.say, preview }, options),
    [id, query.say, JSON.stringify(preview)],
  );
  if (problem) return html`<${ProblemNote} problem=${problem} retry=${retry} />`;
  if (isLoading) return html`<${Loading} />`;
  return html`
    <${Parts} context=${value} budget=${preview.tokens} />
    <section aria-label=${words.messages}>
      <h2>${words.messages}</h2>
      <ol class="seen">
        ${value.messages.map((message, index) => html`<${Message} key=${index} message=${message}
          tokens=${value.messageTokens[index]} conversationId=${id} />`)}
      </ol>
    </section>
    <${Memories} context=${value} />
    <${LeftOutMessages} context=${value} conversationId=${id} />
  `;
}

function Message({ message: { role, content, id }, tokens, conversationId }) {
  const words = useWords(modelWords);
  return html`<li class=${`card seen-message ${role}`}>
    <p class="message-head">
      <span class="role">${words[role] ?? role}</span>
      ${id && html`<a class="permalink" href=${hrefTo(["conversations", conversationId], { message: id })}>${id}</a>`}
      <span class="tokens">${words.total(tokens)}</span>
    </p>
    <${LongText} text=${content} most=${SHOWN_CHARACTERS} />
  </li>`;
}
