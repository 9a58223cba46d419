/** The words of the dialogs that forget many memories. */

export const forgettingWords = {
  manyTitle: ["Forget many memories", "批量忘记"],
  which: ["Which memories", "哪些记忆"],
  sessionId: ["those of a conversation", "来自某个会话的"],
  messageId: ["those of a message", "来自某条消息的"],
  path: ["those read from a file", "来自某个文件的"],
  all: ["all memories", "全部记忆"],
  allOf: [(app) => `all memories that the app ${app} sees`, (app) => `应用 ${app} 可见的全部记忆`],
  sessionIdNamed: ["Id of the conversation", "会话 ID"],
  messageIdNamed: ["Id of the message", "消息 ID"],
  pathNamed: ["Path of the file", "文件路径"],
  next: ["Continue", "继续"],
  cancel: ["Cancel", "取消"],
  sureTitle: ["Forget them for good?", "永久忘记？"],
  sessionIdWhat: [
    (id) => `All memories that come from the conversation “${id}” go.`,
    (id) => `来自会话“${id}”的全部记忆将被忘记。`,
  ],
  messageIdWhat: [
    (id) => `All memories that come from the message “${id}” go.`,
    (id) => `来自消息“${id}”的全部记忆将被忘记。`,
  ],
  pathWhat: [
    (path) => `All memories that were read from the file “${path}” go.`,
    (path) => `来自文件“${path}”的全部记忆将被忘记。`,
  ],
  allWhat: [
    (app) => (app ? `Every memory that the app “${app}” sees goes, pinned ones and values too.` : "Every memory goes, pinned ones and values too."),
    (app) => (app ? `应用“${app}”可见的所有记忆都将被忘记，包括置顶的记忆和键值。` : "所有记忆都将被忘记，包括置顶的记忆和键值。"),
  ],
  forGood: ["Nothing brings them back.", "此操作无法撤销。"],
  forget: ["Forget", "忘记"],
  gone: [
    (count, stale) => `Forgotten: ${count}.${stale ? ` Summaries that may still say it: ${stale}.` : ""}`,
    (count, stale) => `已忘记 ${count} 条。${stale ? `仍可能提及的摘要：${stale} 条。` : ""}`,
  ],
};
