/**
 * `Token`: asks for the token that the server wants.
 */

import { html, useState } from "./vendor/preact-htm.js";
import { credentials, useToken } from "./api.js";
import { Field, Heading, useTitle } from "./pieces/pieces.js";
import { useWords } from "./words.js";
import { shellWords } from "./words/shell.js";

export function Token() {
  const words = useWords(shellWords);
  const [token, setToken] = useState("");
  const wasRefused = "Authorization" in credentials();
  useTitle(words.tokenTitle);
  const enter = (event) => {
    event.preventDefault();
    if (token.trim()) useToken(token.trim());
  };
  return html`<form class="page narrow" onSubmit=${enter}>
    <${Heading}>${words.tokenTitle}<//>
    <p>${words.tokenWhy}</p>
    <${Field} label=${words.token} hint=${words.tokenWhere} problem=${wasRefused && words.tokenRefused}>
      ${(field) => html`<input ...${field} type="password" autocomplete="off" required value=${token}
        onInput=${(event) => setToken(event.target.value)} />`}
    <//>
    <p><button class="main" type="submit">${words.enter}</button></p>
  </form>`;
}
