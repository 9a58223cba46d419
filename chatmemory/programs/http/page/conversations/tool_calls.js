/**
 * `ToolCalls` and `ToolResult`: what a model asked of tools, and what came back, folded: they are long, and seldom read.
 */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { Badge, LongText } from "../pieces/pieces.js";
import { useWords } from "../words.js";
import { conversationWords } from "../words/conversations.js";

const SHOWN_CHARACTERS = 20_000;
const LINE_CHARACTERS = 100;

/** *metadata* of a message, in which the calls stand under the names that Python and JavaScript programs use. */
export function ToolCalls({ metadata }) {
  const words = useWords(conversationWords);
  const calls = metadata?.tool_calls ?? metadata?.toolCalls;
  if (!Array.isArray(calls) || !calls.length) return null;
  return html`<${Fold} label=${words.toolCalls(calls.length)} hint=${calls.map((call) => nameOf(call) ?? words.unnamedTool).join(", ")}>
    <ul class="tool-calls">
      ${calls.map((call, index) => html`<li key=${index}>
        <${Badge}>${nameOf(call) ?? words.unnamedTool}<//>
        <${LongText} text=${argumentsOf(call)} most=${SHOWN_CHARACTERS} />
      </li>`)}
    </ul>
  <//>`;
}

/** *isOpen*: whether the address leads here. */
export function ToolResult({ text, isOpen }) {
  const words = useWords(conversationWords);
  return html`<${Fold} label=${words.toolResult} hint=${text.trim().slice(0, LINE_CHARACTERS)} isOpen=${isOpen}>
    <${LongText} text=${text} most=${SHOWN_CHARACTERS} />
  <//>`;
}

function Fold({ label, hint, isOpen = false, children }) {
  const [isUnfolded, setUnfolded] = useState(isOpen);
  useEffect(() => {
    if (isOpen) setUnfolded(true);
  }, [isOpen]);
  return html`<details class="tool-fold" open=${isUnfolded} onToggle=${(event) => setUnfolded(event.currentTarget.open)}>
    <summary><span class="tool-label">${label}</span> <span class="tool-hint" dir="auto">${hint}</span></summary>
    ${children}
  </details>`;
}

function nameOf(call) {
  const name = call?.function?.name ?? call?.name ?? call?.toolName;
  return typeof name === "string" && name ? name : undefined;
}

/** The arguments as they were stored; those that are JSON in a text are set out like the others. */
function argumentsOf(call) {
  const given = call?.function?.arguments ?? call?.arguments ?? call?.args ?? call?.input ?? call;
  if (typeof given !== "string") return JSON.stringify(given, null, 2);
  try {
    return JSON.stringify(JSON.parse(given), null, 2);
  } catch {
    return given;
  }
}
