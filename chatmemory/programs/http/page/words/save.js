/** The words of the save dialog; those of its fields stand in `fields.js`. */

import { savingWords } from "./saving.js";

export const saveWords = {
  ...savingWords,
  ofUser: ["user input", "用户输入"],
  ofAssistant: ["AI reply", "AI回复"],
  title: ["Save to long-term memory", "保存到长期记忆"],
  loading: ["Looking for what is worth remembering …", "正在智能提取…"],
  extracted: ["Filled in from the message; change whatever you like.", "已根据消息预填，可随意修改。"],
  nothing: [
    "Nothing in particular was found: the message itself is filled in.",
    "未提取到明确的信息，已填入消息原文。",
  ],
  failed: [
    "The extraction did not work: the message itself is filled in.",
    "智能提取失败，已填入消息原文。",
  ],
  proposals: ["Found in the message", "从消息中提取到"],
  itself: ["The message itself", "消息原文"],
  valueNeeded: ["Say what is to be remembered.", "请填写要记住的内容。"],
  stored: ["Saved to long-term memory.", "已保存到长期记忆。"],
};
