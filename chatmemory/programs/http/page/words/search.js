/** The words of a search, and of why something was found. */

export const searchWords = {
  search: ["Search", "搜索"],
  clear: ["Clear search", "清除搜索"],
  filters: ["Filters", "筛选"],
  mode_hybrid: ["Searched by words and meaning", "按词语和语义查找"],
  mode_lexical: ["Searched by words only", "仅按词语查找"],
  mode_like: ["Searched by the text itself", "按原文查找"],
  signals: ["Why it was found", "命中依据"],
  score: ["Score", "得分"],
  lexical: ["Words", "词语"],
  semantic: ["Meaning", "语义"],
};
