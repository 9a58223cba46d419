/** The words of the conversations: their list, their messages, their summaries. */

export const conversationWords = {
  title: ["Conversations", "会话"],
  refresh: ["Look for new conversations", "刷新会话列表"],
  none: ["No conversation yet", "暂无会话"],
  noneYet: [
    "Conversations appear here as soon as a program stores messages, by the API or in Python.",
    "程序通过 API 或 Python 存入消息后，会话就会显示在这里。",
  ],
  choose: ["Choose a conversation to read it.", "请选择一个会话查看。"],
  messages: [(count) => (count === 1 ? "1 message" : `${count} messages`), (count) => `${count} 条消息`],
  back: ["All conversations", "全部会话"],
  user: ["User", "用户"],
  assistant: ["Assistant", "助手"],
  system: ["System", "系统"],
  tool: ["Tool", "工具"],
  summary: ["Summary", "摘要"],
  noText: ["(no text)", "（无文本）"],
  permalink: [(number) => `Link to message ${number}`, (number) => `第 ${number} 条消息的链接`],
  save: ["Save to long-term memory", "保存到长期记忆"],
  saveShort: ["Save", "保存"],
  covers: ["The messages that it stands for", "所概括的消息"],
  coveredElsewhere: ["Messages that a later summary stands for", "已被后续摘要概括的消息"],
  coversDeleted: ["They were deleted when the summary was written.", "这些消息在生成摘要时已被删除。"],
  coversOlder: [
    (count) => `${count} of them stand on older pages.`,
    (count) => `其中 ${count} 条在更早的页面中。`,
  ],
  stale: [
    "A memory that came from these messages was forgotten since; the summary may still say it.",
    "来自这些消息的某条记忆已被忘记，摘要中可能仍保留其内容。",
  ],
  older: ["Older messages", "更早的消息"],
  newer: ["Newer messages", "更新的消息"],
  beginning: ["The conversation begins here.", "会话从这里开始。"],
  toLatest: ["To the latest", "跳到最新"],
  unseen: [
    (count) => (count === 1 ? "1 new message" : `${count} new messages`),
    (count) => `${count} 条新消息`,
  ],
  seeking: [
    (count) => `Looking for the message … ${count} read`,
    (count) => `正在查找该消息… 已读取 ${count} 条`,
  ],
  missing: ["The message is not in this conversation any more.", "该消息已不在此会话中。"],
  live: ["New messages appear by themselves", "新消息会自动显示"],
  broken: ["Connecting again …", "正在重新连接…"],
  lost: ["New messages do not appear by themselves any more", "新消息不再自动显示"],
  wasCleared: ["This conversation was cleared.", "该会话已被清空。"],
  clear: ["Clear conversation", "清空会话"],
  clearTitle: ["Clear this conversation?", "清空此会话？"],
  clearWhat: [
    (count) =>
      `${count === 1 ? "Its message is" : `All ${count} messages are`} deleted, with their summaries, and cannot be brought back. Memories that were saved from it stay.`,
    (count) => `全部 ${count} 条消息及其摘要将被删除，且无法恢复。已保存的记忆会保留。`,
  ],
  cleared: [
    (count) => (count === 1 ? "1 message was deleted." : `${count} messages were deleted.`),
    (count) => `已删除 ${count} 条消息。`,
  ],
};
