/** The words of the frame: navigation, theme, token. */

export const shellWords = {
  skip: ["Skip to the content", "跳到正文"],
  navigation: ["Main", "主导航"],
  conversations: ["Conversations", "会话"],
  memories: ["Memories", "记忆"],
  values: ["Values", "键值"],
  timeline: ["Timeline", "时间线"],
  "past-chats": ["Past chats", "历史聊天"],
  settings: ["Settings", "设置"],
  nowhere: ["There is nothing at this address.", "此地址没有内容。"],
  theme: [(name) => `Theme: ${name}`, (name) => `主题：${name}`],
  auto: ["as the system", "跟随系统"],
  light: ["light", "浅色"],
  dark: ["dark", "深色"],
  tokenTitle: ["A token is needed", "需要访问令牌"],
  tokenWhy: [
    "This server answers only to those who hold one of its tokens. It is kept until this tab is closed.",
    "此服务器仅响应持有令牌的访问者。令牌只保存到此标签页关闭为止。",
  ],
  tokenWhere: [
    "Whoever runs the server makes one: chatmemory token NAME.",
    "令牌由服务器的管理者生成：chatmemory token NAME。",
  ],
  token: ["Token", "令牌"],
  tokenRefused: ["The server did not accept this token.", "服务器未接受此令牌。"],
  enter: ["Continue", "继续"],
};
