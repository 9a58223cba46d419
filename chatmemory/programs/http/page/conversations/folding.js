/**
 * `fold`: messages in the order of a conversation, each summary with the messages that it stands for inside it.
 */

/**
 * Return entries `{summaryId, message, covers}` of *messages*, which are a stretch of the full view, oldest first.
 *
 * A summary stands where the last message that it covers stood, and its `covers` are entries again, since a summary may
 * cover others.  `covers` is null for whatever is no summary.  Messages whose summary is not among *messages* stand in an
 * entry whose `message` is null, so that nothing is lost.
 */
export function fold(messages) {
  const entries = new Map(messages.map((message) => [message.id, entryOf(message)]));
  const roots = [];
  for (const entry of [...entries.values()]) {
    const summaryId = entry.message.coveredBy;
    if (!summaryId) {
      roots.push(entry);
      continue;
    }
    if (!entries.has(summaryId)) {
      const absent = { summaryId, message: null, covers: [] };
      entries.set(summaryId, absent);
      roots.push(absent);
    }
    const summary = entries.get(summaryId);
    summary.covers ??= [];
    summary.covers.push(entry);
  }
  return inPlace(roots);
}

function entryOf(message) {
  const isSummary = message.role === "summary";
  return { summaryId: isSummary ? message.id : null, message, covers: isSummary ? [] : null };
}

function inPlace(entries) {
  const said = entries.filter((entry) => !entry.covers);
  const placed = entries.map((entry) => {
    if (entry.covers) entry.covers = inPlace(entry.covers);
    return { entry, place: placeOf(entry, said) };
  });
  placed.sort((one, other) => one.place - other.place);
  return placed.map(({ entry }) => entry);
}

function placeOf(entry, said) {
  if (!entry.covers) return entry.message.seq;
  if (entry.covers.length) return placeOf(entry.covers.at(-1), said);
  // What it covers is deleted, or on an older page.  It bears the time of the last of them.
  const next = said.find(({ message }) => message.timestamp >= entry.message.timestamp);
  return next ? next.message.seq - 0.5 : entry.message.seq;
}
