/**
 * `ConversationFilters`: the search in all conversations, by words, by date and by app.
 */

import { html } from "../vendor/preact-htm.js";
import { Field } from "../pieces/pieces.js";
import { SearchForm } from "../pieces/search.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";

/** *asked* is `{q, since, until, app}`, the two days as `2026-02-17`; `onChange` gets what has changed of it. */
export function ConversationFilters({ asked, onChange }) {
  const words = useWords(conversationWords);
  const field = (name, label, own) => html`<${Field} label=${label}>
    ${(given) => html`<input ...${given} ...${own} value=${asked[name] ?? ""}
      onChange=${(event) => onChange({ [name]: event.target.value.trim() })} />`}
  <//>`;
  const none = { since: "", until: "", app: "" };
  return html`<${SearchForm} label=${words.searchAll} value=${asked.q}
    onSearch=${(q) => onChange({ q, message: "", ...(!q && none) })}>
    ${asked.q && html`
      ${field("since", words.since, { type: "date" })}
      ${field("until", words.until, { type: "date" })}
      <${UnlessInOneApp}>${field("app", words.app, { type: "text", maxlength: 512, placeholder: words.anyApp })}<//>
    `}
  <//>`;
}

/** What a client that is bound to an app has no choice of.  It is drawn with a search, so that a visit does not ask for it. */
function UnlessInOneApp({ children }) {
  return !useServer()?.namespace.app && children;
}
