/**
 * `Icon`: line drawings of 24 by 24 units, for the eye alone: the words stand beside them, or in a label.
 */

import { html } from "../vendor/preact-htm.js";

const DRAWINGS = {
  conversations: "M4 5h16v11h-8l-5 4v-4H4z",
  memories: "M6 3h12v18l-6-4-6 4z",
  values: "M8 8a4 4 0 1 0 0 8 4 4 0 1 0 0-8M12 12h9M18 12v4M15 12v3",
  timeline: "M4 19h16M6 15v-4M11 15V6M16 15v-7",
  "past-chats": "M12 7v5l3 2M4.5 9.5A8 8 0 1 1 4 12.5M4 5v4.5h4.5",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M13 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0M7 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 1 0 0-8M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1 1M17.4 17.4l1 1M5.6 18.4l1-1M17.4 6.6l1-1",
  dark: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
  auto: "M12 4a8 8 0 1 0 0 16 8 8 0 1 0 0-16M12 4v16M12 8h6.5M12 12h8M12 16h6.5",
  save: "M6 3h12v18l-6-4-6 4zM12 7v6M9 10h6",
  close: "M6 6l12 12M18 6L6 18",
  back: "M15 5l-7 7 7 7",
  retry: "M19 12a7 7 0 1 1-2.1-5M19 4v4h-4",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M15.5 15.5L20 20",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.5",
  done: "M5 12.5l4.5 4.5L19 7.5",
  info: "M12 4a8 8 0 1 0 0 16 8 8 0 1 0 0-16M12 11v5M12 8v.5",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  copy: "M9 9h10v11H9zM5 15V4h10",
  edit: "M4 20l1-4L16 5l3 3L8 19z",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  promote: "M12 20V6M6 12l6-6 6 6",
  branch: "M7 4v16M7 14c8 0 10-3 10-8M14 9l3-3 3 3",
  eye: "M2.5 12s3.5-6.5 9.5-6.5 9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12M12 9a3 3 0 1 0 0 6 3 3 0 1 0 0-6",
  first: "M6 5h12M12 20V9M7 14l5-5 5 5",
  summary: "M5 6h14M5 10h14M5 14h9M5 18h6",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${DRAWINGS[name]} /></svg>`;
}
