/**
 * `RichText`: a text with its headings, lists, tables and code if it is Markdown, and otherwise as it is written.
 *
 * Markdown is untrusted like every text: HTML in it stays text, what is made of it goes through DOMPurify with a short list
 * of elements, nothing is loaded from anywhere, and an address can be followed only where it can be read.
 */

import { domPurify } from "../vendor/dompurify.js";
import { markdownIt } from "../vendor/markdown-it.js";
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { useWords } from "../words.js";
import { pieceWords } from "../words/pieces.js";
import { notify } from "./notices.js";
import { LongText } from "./pieces.js";

// A fence, the line below the head of a table, a heading, a list, something strong.  One line break is not enough.
const SIGNS = [
  /^ {0,3}(?:```|~~~)/m,
  /^ {0,3}\|? *:?-{2,}:? *(?:\| *:?-{2,}:? *)+\|? *$/m,
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(?:[-*+]|\d{1,3}[.)]) \S/m,
  /\*\*[^\s*][^*\n]*\*\*/,
];
const PURE = {
  ALLOWED_TAGS: [
    "p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a",
  ],
  ALLOWED_ATTR: ["href", "start", "class"],
  ALLOWED_URI_REGEXP: /^https?:/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

// A link or an image whose address is hidden behind other words stays as it is written; the address in it can be followed.
const markdown = markdownIt({ html: false, linkify: true, breaks: true }).disable(["image", "link", "reference", "autolink"]);
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

const MOST_FORMATTED = 20_000; // a browser takes seconds to lay out a megabyte

const isMarkdown = (text) => SIGNS.some((sign) => sign.test(text));

/** *most*: the number of characters that are shown at first. */
export function RichText({ text, most = MOST_FORMATTED }) {
  const words = useWords(pieceWords);
  const [isWhole, setWhole] = useState(false);
  if (text.length > MOST_FORMATTED || !isMarkdown(text)) return html`<${LongText} text=${text} most=${most} />`;
  const isCut = !isWhole && text.length > most;
  return html`
    <${Markdown} text=${isCut ? `${text.slice(0, most)}…` : text} />
    ${isCut && html`<button type="button" class="bare" onClick=${() => setWhole(true)}>${words.showAll(text.length)}</button>`}
  `;
}

function Markdown({ text }) {
  const words = useWords(pieceWords);
  const place = useRef(null);
  const [isRaw, setRaw] = useState(false);
  useLayoutEffect(() => {
    if (!isRaw) place.current.replaceChildren(drawn(text, words));
  }, [text, isRaw, words]);
  return html`
    ${isRaw ? html`<div key="written" class="text" dir="auto">${text}</div>` : html`<div key="formatted" class="markdown" dir="auto" ref=${place}></div>`}
    <p class="as-written"><button type="button" class="bare small" aria-pressed=${isRaw} onClick=${() => setRaw(!isRaw)}>${words.asWritten}</button></p>
  `;
}

function drawn(text, words) {
  const fragment = domPurify.sanitize(markdown.render(text), PURE);
  for (const link of fragment.querySelectorAll("a")) {
    link.rel = "noopener noreferrer";
    link.target = "_blank";
  }
  // The headings of the page are those of its views.
  for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const line = element("p", `markdown-heading of-${heading.localName}`);
    line.append(...heading.childNodes);
    heading.replaceWith(line);
  }
  for (const table of fragment.querySelectorAll("table")) within(scrolling("table-scroll", words.table), table);
  for (const code of fragment.querySelectorAll("pre")) {
    const language = /^language-([\w+#.-]{1,30})$/.exec(code.querySelector("code")?.className ?? "")?.[1] ?? words.code;
    const head = element("div", "code-head");
    const name = element("span", "");
    name.textContent = language;
    head.append(name, copyButton(code, words));
    const block = element("div", "code-block");
    within(block, code);
    code.tabIndex = 0;
    code.setAttribute("role", "region");
    code.setAttribute("aria-label", language);
    block.prepend(head);
  }
  return fragment;
}

function copyButton(code, words) {
  const button = element("button", "bare small");
  button.type = "button";
  button.textContent = words.copyCode;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent.replace(/\n$/, ""));
      notify({ text: words.copied });
    } catch {
      notify({ text: words.copyFailed, kind: "failed" }); // without HTTPS, for example
    }
  });
  return button;
}

/** An element that scrolls sideways, which the keyboard reaches. */
function scrolling(name, label) {
  const box = element("div", name);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
}

/** Put *inner* into *outer*, which takes its place. */
function within(outer, inner) {
  inner.replaceWith(outer);
  outer.append(inner);
}

function element(tag, name) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  return made;
}
