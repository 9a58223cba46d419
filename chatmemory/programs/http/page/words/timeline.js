/** The words of the timeline. */

import { fieldWords } from "./fields.js";

export const timelineWords = {
  ...fieldWords,
  title: ["Timeline", "时间线"],
  loading: [(count) => `Loading … ${count}`, (count) => `加载中… 已读取 ${count} 条`],
  nothing: [
    "Nothing is remembered yet. What you save shows up here, each memory at the time since when it is true.",
    "还没有任何记忆。保存的记忆会按其开始成立的时间显示在这里。",
  ],
  onlyNewest: [
    (count, since) => `The timeline shows the ${count.toLocaleString("en")} newest memories, back to ${since}. Older ones are not loaded.`,
    (count, since) => `时间线仅显示最新的 ${count} 条记忆，最早至 ${since}；更早的记忆尚未加载。`,
  ],
  loadOlder: ["Load older ones", "加载更早的记忆"],
  nothingLoaded: ["No memory of this time has been loaded.", "这段时间的记忆尚未加载。"],
  atLeast: [(count) => `at least ${count}`, (count) => `至少 ${count}`],
  unknown: ["not loaded", "未加载"],
  range: ["Range", "范围"],
  all: ["All", "全部"],
  year: ["Year", "年"],
  month: ["Month", "月"],
  week: ["Week", "周"],
  earlier: ["Earlier", "更早"],
  later: ["Later", "更晚"],
  nothingHere: ["Nothing was remembered in this time.", "这段时间没有记忆。"],
  plot: [
    (count, span) => `Memories by time and category: ${count} in ${span}`,
    (count, span) => `按时间和类别排列的记忆：${span}，共 ${count} 条`,
  ],
  keys: [
    "Arrow keys left and right go along a category, up and down from one to the next; Enter opens. The same stands in the table below.",
    "左右方向键在同一类别内移动，上下方向键切换类别，回车键打开。下方表格包含相同内容。",
  ],
  dot: [
    ({ when, kind, confidence, text }) => `${when}, ${kind.join(", ")}, confidence ${confidence}: ${text}`,
    ({ when, kind, confidence, text }) => `${when}，${kind.join("，")}，置信度 ${confidence}：${text}`,
  ],
  bar: [(count, span) => `${count} memories, ${span}`, (count, span) => `${span}，${count} 条记忆`],
  pinned: ["Pinned", "已置顶"],
  surer: ["the larger, the surer", "越大置信度越高"],
  bars: ["A bar counts memories where dots would hide each other.", "点过于密集处以条形表示数量。"],
  hint: [
    "Point at a memory, tap it, or go there with the arrow keys, to read it here.",
    "将指针移到某条记忆上、点按它，或用方向键选中，即可在此阅读。",
  ],
  open: ["Open", "打开"],
  zoomIn: ["Zoom in", "放大"],
  showInTable: ["Show in the table", "在表格中查看"],
  andMore: [(count) => `and ${count} more`, (count) => `另有 ${count} 条`],
  asTable: [(count) => `As a table (${count})`, (count) => `以表格显示（${count}）`],
  when: ["When", "时间"],
  memory: ["Memory", "记忆"],
  yes: ["yes", "是"],
};
