/** The words of the save dialog; those of its fields stand in `fields.js`. */

export const saveWords = {
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
  cancel: ["Cancel", "取消"],
  save: ["Save", "保存"],
  saving: ["Saving …", "正在保存…"],
  stored: ["Saved to long-term memory.", "已保存到长期记忆。"],
  duplicate: ["This is remembered already; nothing was added.", "已有相同的记忆，未重复保存。"],
  open: ["Open it", "查看"],
  unembedded: ["It has no vector yet and is found by its words.", "暂无向量，可按词语检索。"],
  empty: ["It says nothing that could be remembered.", "内容为空，未保存。"],
  unsure: ["It was not saved: the confidence is too low.", "置信度过低，未保存。"],
  echo: ["It was not saved: it repeats what memory itself had said.", "这是记忆自身内容的重复，未保存。"],
};
