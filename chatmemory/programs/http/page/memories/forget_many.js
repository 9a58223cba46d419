/**
 * `ForgetMany`: the dialogs that forget the memories of one origin, or all of them.
 *
 * Nothing brings them back, so what is to go is chosen first and confirmed in words of its own.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { forgetAll, forgetWhere } from "../api.js";
import { Confirmation, Dialog } from "../pieces/dialog.js";
import { notify } from "../pieces/notices.js";
import { Field, Select } from "../pieces/pieces.js";
import { useServer } from "../server.js";
import { useWords } from "../words.js";
import { forgettingWords } from "../words/forgetting.js";

const ORIGINS = ["sessionId", "messageId", "path"];
const ALL = "all";

/** Forget memories of the *app*, or of every app; *onForgotten* is called when they are gone. */
export function ForgetMany({ app, onForgotten, onClose }) {
  const words = useWords(forgettingWords);
  const [origin, setOrigin] = useState(ORIGINS[0]);
  const [named, setNamed] = useState("");
  const [isSure, setSure] = useState(false);
  const ownApp = useServer()?.namespace.app; // which a client may be bound to
  const seenBy = app || ownApp;
  const isAll = origin === ALL;
  const choose = (event) => {
    event.preventDefault();
    setSure(true);
  };
  if (isSure) {
    const done = ({ memories, staleSummaries }) => {
      onClose();
      notify({ text: words.gone(memories, staleSummaries.length) });
      onForgotten();
    };
    return html`<${Confirmation}
      title=${words.sureTitle}
      label=${words.forget}
      act=${() => (isAll ? forgetAll({ app }) : forgetWhere({ [origin]: named }, { app }))}
      onDone=${done}
      onClose=${onClose}
    >
      <p>${isAll ? words.allWhat(seenBy) : words[`${origin}What`](named)} ${words.forGood}</p>
    <//>`;
  }
  return html`<${Dialog} title=${words.manyTitle} onClose=${onClose}>
    <form onSubmit=${choose}>
      <div class="dialog-body">
        <${Field} label=${words.which}>
          ${(own) => html`<${Select} ...${own} value=${origin} onChoose=${setOrigin}
            options=${[...ORIGINS, ALL].map((name) => [name, name === ALL && seenBy ? words.allOf(seenBy) : words[name]])} />`}
        <//>
        ${!isAll &&
        html`<${Field} label=${words[`${origin}Named`]}>
          ${(own) => html`<input ...${own} type="text" required value=${named} 
            onInput=${(event) => setNamed(event.target.value)} />`}
        <//>`}
      </div>
      <footer>
        <button type="button" onClick=${onClose}>${words.cancel}</button>
        <button type="submit" class="danger" disabled=${!isAll && named === ""}>${words.next}</button>
      </footer>
    </form>
  <//>`;
}
