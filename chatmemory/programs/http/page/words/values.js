/** The words of the values view. */

import { fieldWords } from "./fields.js";
import { savingWords } from "./saving.js";

export const valueWords = {
  ...fieldWords,
  ...savingWords,
  title: ["Values", "键值"],
  what: [
    "What programs and people keep under a key. A key has one value at a time; earlier ones can still be read.",
    "程序和用户按键名保存的内容。每个键名同一时间只有一个值，旧值仍可读取。",
  ],
  newValue: ["New value", "新建键值"],
  prefix: ["Keys that begin with", "键名开头"],
  noApp: ["no app in particular", "不限应用"],
  list: ["Newest first", "最新在前"],
  nothing: ["Nothing is kept under a key yet.", "还没有任何键值。"],
  nothingFits: ["No key fits these filters.", "没有符合筛选条件的键名。"],
  change: ["Change", "修改"],
  changeTitle: ["Change a value", "修改键值"],
  newTitle: ["New value", "新建键值"],
  earlierStays: ["The earlier value can still be read.", "旧值仍可读取。"],
  saved: ["Saved.", "已保存。"],
  delete: ["Delete", "删除"],
  deleted: [(key) => `Deleted: ${key}`, (key) => `已删除：${key}`],
  restored: [(key) => `Restored: ${key}`, (key) => `已恢复：${key}`],
};
