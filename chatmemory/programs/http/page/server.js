/**
 * `useServer`: what the server says of itself (`GET /settings`), asked once for all who want to know.
 */

import { useEffect } from "./vendor/preact-htm.js";
import { settings, tokenWanted } from "./api.js";
import { Observable } from "./observable.js";

const server = new Observable(null);
let asked = null;

// Another token, another description.
tokenWanted.listen(() => {
  asked = null;
  server.value = null;
});

/** The server's description; null as long as it is not known. */
export function useServer() {
  const known = server.use();
  useEffect(() => {
    if (!known) ask();
  }, [known]);
  return known;
}

async function ask() {
  asked ??= settings();
  const asking = asked;
  try {
    const description = await asking;
    if (asked === asking) server.value = description;
  } catch {
    if (asked === asking) asked = null; // whoever is drawn next asks again; the views have defaults
  }
}
