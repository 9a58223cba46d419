/**
 * The page: its frame, and which view stands in it.
 *
 * A view is a component that takes `{path, query}`: the segments behind its own name, and the parameters.
 */

import { html, render, useErrorBoundary } from "./vendor/preact-htm.js";
import { tokenWanted } from "./api.js";
import { Conversations } from "./conversations/conversations.js";
import { hrefTo, place } from "./hash.js";
import { Memories } from "./memories/memories.js";
import { PastChats } from "./past_chats/past_chats.js";
import { Icon } from "./pieces/icons.js";
import { Notices } from "./pieces/notices.js";
import { Heading, IconButton, ProblemNote } from "./pieces/pieces.js";
import { applyPreferences, language, shownLanguage, theme, THEMES } from "./preferences.js";
import { Settings } from "./settings/settings.js";
import { Timeline } from "./timeline/timeline.js";
import { Token } from "./token.js";
import { Values } from "./values/values.js";
import { useWords } from "./words.js";
import { shellWords } from "./words/shell.js";

const VIEWS = {
  conversations: Conversations,
  memories: Memories,
  values: Values,
  timeline: Timeline,
  "past-chats": PastChats,
  settings: Settings,
};

function App() {
  const words = useWords(shellWords);
  const { path, query } = place.use();
  const isTokenWanted = tokenWanted.use();
  const name = path[0] ?? Object.keys(VIEWS)[0];
  const skip = (event) => {
    event.preventDefault(); // the address behind # is the place, not an element
    document.querySelector("main").focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>${words.skip}</a>
    <header class="top">
      <a class="brand" href=${hrefTo([])}><img src="/page/icon.svg" alt="" width="24" height="24" />chatmemory</a>
      <nav aria-label=${words.navigation}>
        ${Object.keys(VIEWS).map((view) => html`<${NavigationLink} key=${view} view=${view} isHere=${view === name} />`)}
      </nav>
      <div class="switches"><${LanguageSwitch} /><${ThemeSwitch} /></div>
    </header>
    <main id="main" tabIndex="-1">
      ${isTokenWanted
        ? html`<${Token} />`
        : html`<${View} key=${name} name=${name} path=${path.slice(1)} query=${query} />`}
    </main>
    <${Notices} />
  `;
}

function View({ name, path, query }) {
  const words = useWords(shellWords);
  const [error, forgetError] = useErrorBoundary();
  if (error) return html`<div class="page"><${ProblemNote} problem=${error} retry=${forgetError} /></div>`;
  if (!Object.hasOwn(VIEWS, name)) return html`<div class="page"><${Heading}>${words.nowhere}<//></div>`;
  return html`<${VIEWS[name]} path=${path} query=${query} />`;
}

function NavigationLink({ view, isHere }) {
  const words = useWords(shellWords);
  return html`<a href=${hrefTo([view])} aria-current=${isHere ? "page" : undefined}>
    <${Icon} name=${view} /><span>${words[view]}</span>
  </a>`;
}

/** Offers the other language, in its own words. */
function LanguageSwitch() {
  language.use();
  const [other, name, code] = shownLanguage() === "zh" ? ["en", "English", "en"] : ["zh", "中文", "zh-CN"];
  return html`<button type="button" class="bare" lang=${code} onClick=${() => (language.value = other)}>${name}</button>`;
}

function ThemeSwitch() {
  const words = useWords(shellWords);
  const shown = theme.use();
  const turn = () => {
    theme.value = THEMES[(THEMES.indexOf(shown) + 1) % THEMES.length];
  };
  return html`<${IconButton} icon=${shown} label=${words.theme(words[shown])} isBare onClick=${turn} />`;
}

applyPreferences();
render(html`<${App} />`, document.querySelector("#app"));
