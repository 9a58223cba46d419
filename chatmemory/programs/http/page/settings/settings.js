/**
 * The settings view: what this browser shows and how, and what the server says of itself.
 *
 * The server's settings are read here and written in its configuration, so that nobody changes them from a browser.
 */

import { html } from "../vendor/preact-htm.js";
import { settings } from "../api.js";
import { useAnswer } from "../asking.js";
import { Badge, Field, Heading, Loading, Note, ProblemNote, Select, useTitle } from "../pieces/pieces.js";
import { language, LANGUAGES, theme, THEMES } from "../preferences.js";
import { useWords } from "../words.js";
import { settingsWords } from "../words/settings.js";

const LANGUAGE_NAMES = { en: "English", zh: "中文" };

export function Settings() {
  const words = useWords(settingsWords);
  const answer = useAnswer(settings, []);
  useTitle(words.title);
  return html`<div class="page">
    <${Heading}>${words.title}<//>
    ${answer.value && html`<${Missing} warnings=${answer.value.warnings} />`}
    <section class="card">
      <h2>${words.thisBrowser}</h2>
      <${Preferences} />
    </section>
    <section class="card">
      <h2>${words.thisServer}</h2>
      ${answer.isLoading && html`<${Loading} />`}
      ${answer.problem && html`<${ProblemNote} problem=${answer.problem} retry=${answer.retry} />`}
      ${answer.value && html`<${Description} server=${answer.value} />`}
    </section>
    ${answer.value && html`<${Better} warnings=${answer.value.warnings} />`}
  </div>`;
}

/** What is missing, or that nothing is. */
function Missing({ warnings }) {
  const words = useWords(settingsWords);
  const missing = warnings.filter(({ level }) => level === "warning");
  if (!missing.length) return html`<${Note}><p>${words.allWell}</p><//>`;
  return html`<section class="warnings">
    <h2>${words.attention}</h2>
    ${missing.map((warning) => html`<${Note} key=${warning.code} kind="warning"><${Advice} ...${warning} /><//>`)}
  </section>`;
}

/** What works and could be better. */
function Better({ warnings }) {
  const words = useWords(settingsWords);
  const better = warnings.filter(({ level }) => level !== "warning");
  if (!better.length) return null;
  return html`<section class="card warnings">
    <h2>${words.couldBeBetter}</h2>
    ${better.map((warning) => html`<div key=${warning.code}><${Advice} ...${warning} /></div>`)}
  </section>`;
}

/** What it is, and what to do about it: in the server's words where those say more than this page knows. */
function Advice({ code, message }) {
  const words = useWords(settingsWords);
  const cure = words[`${code}_cure`];
  return html`
    ${words[code] && html`<p><strong>${words[code]}</strong></p>`}
    ${cure ? html`<p>${cure}</p>` : html`<p lang="en">${message}</p>`}
  `;
}

function Preferences() {
  const words = useWords(settingsWords);
  const languages = LANGUAGES.map((choice) => [choice, LANGUAGE_NAMES[choice] ?? words.automatic]);
  const themes = THEMES.map((choice) => [choice, words[choice]]);
  return html`<div class="preferences">
    <${Preference} label=${words.language} choice=${language} options=${languages} />
    <${Preference} label=${words.theme} choice=${theme} options=${themes} />
  </div>`;
}

function Preference({ label, choice, options }) {
  const chosen = choice.use();
  const choose = (value) => {
    choice.value = value;
  };
  return html`<${Field} label=${label}>
    ${(own) => html`<${Select} ...${own} value=${chosen} options=${options} onChoose=${choose} />`}
  <//>`;
}

function Description({ server }) {
  const words = useWords(settingsWords);
  const { store, embedder, skills, pastChats, namespace } = server;
  return html`<dl class="description">
    <${Item} name=${words.store} value=${words[store.backend] ?? store.backend} more=${store.place} />
    <${Item}
      name=${words.embedder}
      does=${words.embedderDoes}
      value=${embedder.model}
      more=${embedder.dim ? words.dimensions(embedder.dim) : ""}
      runs=${embedder.runs}
    />
    <${Item} name=${words.extractor} does=${words.extractorDoes} value=${words[server.extractor] ?? server.extractor} />
    <${Item}
      name=${words.skills}
      does=${words.skillsDo}
      value=${words[skills.runner] ?? skills.runner}
      runs=${skills.runs}
    />
    <${Item} name=${words.strategy} value=${words[`strategy_${server.strategy}`] ?? server.strategy} />
    <${Item} name=${words.pastChats} value=${pastChatsState(pastChats, words)} more=${pastChats.place} />
    <${Item} name=${words.namespace} value=${namespace.user} more=${namespace.app || words.anyApp} />
    <${Item}
      name=${words.access}
      value=${server.readOnly ? words.readOnly : words.readAndWrite}
      more=${server.needsToken ? words.withToken : words.withoutToken}
    />
    <${Item} name=${words.version} value=${server.version} />
  </dl>`;
}

/** One thing of the server: what it is for, what it is, and whether it runs where that is a question. */
function Item({ name, does, value, more, runs }) {
  const words = useWords(settingsWords);
  return html`<div>
    <dt>${name}${does && html`<span class="quiet small">${does}</span>`}</dt>
    <dd>
      ${runs !== undefined &&
      html`<${Badge} kind=${runs ? "accent" : "warning"}>${runs ? words.runs : words.doesNotRun}<//>`}
      <span>${value}</span>
      ${more && html`<span class="quiet small">${more}</span>`}
    </dd>
  </div>`;
}

function pastChatsState({ enabled, indexed }, words) {
  if (!enabled) return words.pastChatsOff;
  return indexed ? words.pastChatsIndexed : words.pastChatsMissing;
}
