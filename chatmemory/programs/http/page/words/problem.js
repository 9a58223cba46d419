/** What the page says of problems that a person can do something about; others speak for themselves. */

export const problemWords = {
  unexpected: ["Something unexpected happened on this page.", "页面发生了意外错误。"],
  Unreachable: [
    "The server did not answer. Is it still running?",
    "服务器没有响应，请确认它仍在运行。",
  ],
  NoJson: ["The server answered with something else than JSON.", "服务器的回答不是 JSON。"],
  OverloadedError: ["The server is busy. Try again in a moment.", "服务器繁忙，请稍后再试。"],
  DataValidationError: ["The server did not accept this.", "服务器未接受此内容。"],
  ForbiddenError: ["This token may not do that.", "此令牌无权执行该操作。"],
  ConversationNotFoundError: ["This conversation does not exist, or not any more.", "该会话不存在或已被清空。"],
  MemoryNotFoundError: ["This memory does not exist any more.", "该记忆已不存在。"],
  MemoryChangedError: ["Somebody has changed this memory meanwhile.", "该记忆已被他人修改。"],
  NotUndoableError: ["This change cannot be undone any more.", "此更改已无法撤销。"],
  VersionConflictError: ["Somebody has changed this meanwhile.", "该内容已被他人修改。"],
};
