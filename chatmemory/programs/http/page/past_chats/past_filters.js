/**
 * `PastFilters`: what is looked for in past chats, in which project and of which tool.
 */

import { html } from "../vendor/preact-htm.js";
import { Select } from "../pieces/pieces.js";
import { SearchForm } from "../pieces/search.js";
import { useWords } from "../words.js";
import { pastWords } from "../words/past_chats.js";
import { toolName } from "./tools.js";

/** *asked* is `{q, project, format}`; `onChange` gets what has changed of it. */
export function PastFilters({ asked, statistics, onChange }) {
  const words = useWords(pastWords);
  return html`<${SearchForm} label=${words.searchLabel} value=${asked.q} onSearch=${(q) => onChange({ q })}>
    <${Select} aria-label=${words.project} value=${asked.project} any=${words.anyProject}
      options=${counted(statistics.byProject)} onChoose=${(project) => onChange({ project })} />
    <${Select} aria-label=${words.format} value=${asked.format} any=${words.anyFormat}
      options=${counted(statistics.byFormat, toolName)} onChoose=${(format) => onChange({ format })} />
  <//>`;
}

/** The names that occur with their counts, those of most turns first, as *shown*. */
function counted(counts, shown = (name) => name) {
  const names = Object.keys(counts).filter(Boolean);
  names.sort((one, other) => counts[other] - counts[one]);
  return names.map((name) => [name, `${shown(name)} (${counts[name]})`]);
}
