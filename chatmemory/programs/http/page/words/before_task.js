/** The words of what worked and what failed before a task. */

export const taskWords = {
  title: ["Before a task", "动手之前"],
  about: [
    "What worked, what failed, and where it was said: as pastchats-memory recall tells an agent.",
    "哪些做法成功了，哪些失败了，出自何处：与 pastchats-memory recall 告诉智能体的相同。",
  ],
  label: ["What are you about to do?", "您准备做什么？"],
  example: ["For example: build webhook retries", "例如：实现 webhook 重试"],
  back: ["All past chats", "全部历史聊天"],
  open: ["Before a task", "动手之前"],
  found: [
    (count) => (count === 1 ? "1 exchange belongs to it" : `${count} exchanges belong to it`),
    (count) => `相关往来 ${count} 段`,
  ],
  nothing: ["Nothing in the past chats belongs to this task.", "历史聊天中没有与此任务相关的内容。"],
  worked: ["Worked", "成功"],
  answered: ["Answered; whether it worked does not show", "已答复，是否成功未见下文"],
  failed: ["Failed", "失败"],
  report: ["What was said of it", "对方的反馈"],
  confirmation: ["Confirmed", "确认"],
  source: ["Where it was said", "查看出处"],
  sourceOf: [(index) => `Where it was said: turn ${index}`, (index) => `查看出处：第 ${index} 轮`],
  block: [
    (tokens, leftOut) => `The block for a prompt: ${tokens} tokens${leftOut ? `, ${leftOut} exchanges left out` : ""}`,
    (tokens, leftOut) => `用于提示词的文本块：${tokens} 个 token${leftOut ? `，略去 ${leftOut} 段` : ""}`,
  ],
  copy: ["Copy for a prompt", "复制到提示词"],
  copied: ["Copied", "已复制"],
};
