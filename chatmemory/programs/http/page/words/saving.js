/** What becomes of a memory that is to be saved, whichever dialog it comes from. */

export const savingWords = {
  save: ["Save", "保存"],
  cancel: ["Cancel", "取消"],
  saving: ["Saving …", "正在保存…"],
  open: ["Open it", "查看"],
  duplicate: ["This is remembered already; nothing was added.", "已有相同的记忆，未重复保存。"],
  keptOut: [
    "This was forgotten, and does not come back from the same message: write it as a new memory.",
    "该内容已被忘记，不会由同一条消息恢复：请另写一条新记忆。",
  ],
  retired: ["Older memories that it ends: {n}.", "由此失效的旧记忆：{n} 条。"],
  undo: ["Undo", "撤销"],
  undone: ["The older memory is current again; the new one no longer is.", "旧记忆已恢复，新记忆不再有效。"],
  notUndone: ["This could not be undone.", "撤销失败。"],
  unembedded: ["It has no vector yet and is found by its words.", "暂无向量，可按词语检索。"],
};
