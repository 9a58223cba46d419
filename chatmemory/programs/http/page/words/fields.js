/** The names of the fields of a memory, and of what may stand in them. */

export const CATEGORIES = ["preference", "fact", "pattern"];
export const TYPES = ["long_term", "short_term"];

export const SOURCES = ["user_stated", "inferred", "system"];

export const fieldWords = {
  content: ["Content", "内容"],
  key: ["Key", "键名"],
  value: ["Value", "值"],
  asJson: ["Edit as JSON", "以 JSON 编辑"],
  noJson: [(problem) => `This is not JSON yet: ${problem}`, (problem) => `还不是有效的 JSON：${problem}`],
  category: ["Category", "类别"],
  none: ["No category", "无类别"],
  preference: ["Preference", "偏好"],
  fact: ["Fact", "事实"],
  pattern: ["Pattern", "模式"],
  confidence: ["Confidence", "置信度"],
  tags: ["Tags", "标签"],
  memoryType: ["Type", "类型"],
  long_term: ["Long-term", "长期"],
  short_term: ["Short-term", "短期"],
  app: ["App", "应用"],
};
