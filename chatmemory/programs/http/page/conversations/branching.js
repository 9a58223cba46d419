/**
 * `branchTo`, `branchBefore`, `branchInstead`: the ways in which a person goes on from somewhere in a conversation, each a
 * branch.  The conversation itself stays as it is.
 *
 * Each gives the id of what it began.  *attempt* is a key (`newKey`): what is repeated with the same one is not done twice.
 */

import { addMessages, forkConversation, getMessages } from "../api.js";
import { newKey } from "../idempotency.js";

const MOST_OF_THE_ID = 500; // an id has 512 characters at most

/** Begin a branch that ends with a message. */
export async function branchTo(conversationId, { id }, attempt = newKey()) {
  const { conversation } = await forkConversation(conversationId, branchId(conversationId, attempt), id);
  return conversation.conversationId;
}

/** Begin a branch that ends before a message; null where nothing is before it. */
export async function branchBefore(conversationId, { seq }, attempt = newKey()) {
  const { messages } = await getMessages(conversationId, { olderThan: seq, limit: 1 });
  return messages.length ? branchTo(conversationId, messages[0], attempt) : null;
}

/**
 * Say *content* in a message's place: in a branch that ends before it, or, where nothing is before it, in a conversation
 * that begins with it.  The metadata of the message stay behind: programs keep there what belongs to its former text.
 */
export async function branchInstead(conversationId, message, content, attempt = newKey()) {
  const begun = (await branchBefore(conversationId, message, attempt)) ?? branchId(conversationId, attempt);
  await addMessages(begun, [{ role: message.role, content }], { idempotencyKey: attempt });
  return begun;
}

function branchId(conversationId, attempt) {
  return `${Array.from(conversationId).slice(0, MOST_OF_THE_ID).join("")}~${attempt.slice(0, 8)}`;
}
