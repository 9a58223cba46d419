/**
 * `FindBar`: the ways to a place in a long conversation: by words, by a date, to its beginning.
 */

import { html, useState } from "../vendor/preact-htm.js";
import { Field } from "../pieces/pieces.js";
import { SearchForm } from "../pieces/search.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";
import { FoundMessages } from "./found_messages.js";

const EARLIEST = "1970-01-01";

/** `onFirst()`; `onDate` gets an instant in milliseconds; *wanted*: the message that is shown. */
export function FindBar({ id, wanted, onFirst, onDate }) {
  const words = useWords(conversationWords);
  const [query, setQuery] = useState("");
  // While a year is typed, 0002, 0020 and 0202 are dates too; `min` refuses them, so the field keeps the focus.
  const toDate = ({ target }) => {
    const [year, month, day] = target.value.split("-").map(Number);
    if (day && target.checkValidity()) onDate(new Date(year, month - 1, day).getTime());
  };
  return html`<section class="find-bar" aria-label=${words.find}>
    <${SearchForm} label=${words.findFor} value=${query} onSearch=${setQuery} />
    <div class="row find-places">
      <${Field} label=${words.toDate}>${(own) => html`<input ...${own} type="date" min=${EARLIEST} onChange=${toDate} />`}<//>
      <button type="button" onClick=${onFirst}>${words.toFirst}</button>
    </div>
    ${query && html`<div class="found-here"><${FoundMessages} asked=${{ q: query }} wanted=${wanted} conversationId=${id} /></div>`}
  </section>`;
}
