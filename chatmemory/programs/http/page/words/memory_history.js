/** The words of the history of a memory: what happened to it, and why. */

export const historyWords = {
  title: ["History", "历史"],
  nothing: ["Nothing is on record any more.", "已没有记录。"],
  saidBefore: ["It said before:", "之前的内容："],
  undo: ["Take this back", "撤销此更改"],
  undone: ["It was taken back.", "已撤销。"],
  successor: ["What took its place", "取代它的记忆"],
  who: [(name) => `by ${name}`, (name) => `由 ${name}`],

  stored: ["Remembered", "记住"],
  changed: ["Corrected", "已更正"],
  superseded: ["Superseded", "已被取代"],
  retired: ["Ended", "已失效"],
  promoted: ["Made long-term", "转为长期"],
  demoted: ["Made short-term", "转为短期"],
  pinned: ["Pinned", "已置顶"],
  unpinned: ["No longer pinned", "已取消置顶"],
  restored: ["True again", "恢复有效"],
  forgotten: ["Forgotten", "已忘记"],
  expired: ["Expired", "已过期"],

  by_age: ["by its age", "因时间"],
  by_session: ["at the end of its session", "随会话结束"],
  by_undo: ["to take a change back", "撤销更改"],
  by_use: ["by its use", "因使用"],
  by_key: ["by a new value of its key", "因键的新值"],
  by_again: ["saved again", "再次保存"],
};
