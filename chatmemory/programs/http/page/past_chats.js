/**
 * `PastChats`: what was said with other tools, to read and to search; nothing is written here.
 */

import { html } from "./vendor/preact-htm.js";
import { Heading } from "./pieces.js";

export function PastChats() {
  return html`<div class="page"><${Heading}>Past chats<//></div>`;
}
