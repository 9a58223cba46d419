/**
 * `toolName`: the tool that kept a history, as its makers write it; a format that came from elsewhere stands as it is.
 */

const TOOLS = new Map([
  ["aider", "Aider"],
  ["antigravity", "Antigravity"],
  ["chatgpt", "ChatGPT"],
  ["claude_ai", "Claude.ai"],
  ["claude_code", "Claude Code"],
  ["claude_prompts", "Claude Code"],
  ["cline", "Cline"],
  ["codex_cli", "Codex CLI"],
  ["continue", "Continue"],
  ["copilot_chat", "Copilot Chat"],
  ["copilot_cli", "Copilot CLI"],
  ["cursor", "Cursor"],
  ["cursor_store", "Cursor"],
  ["deepseek", "DeepSeek"],
  ["factory_droid", "Factory Droid"],
  ["gemini_cli", "Gemini CLI"],
  ["gemini_takeout", "Gemini"],
  ["goose", "Goose"],
  ["jan", "Jan"],
  ["kimi_cli", "Kimi CLI"],
  ["langchain", "LangChain"],
  ["librechat", "LibreChat"],
  ["locomo", "LoCoMo"],
  ["markdown", "Markdown"],
  ["openai_chat", "OpenAI JSONL"],
  ["opencode", "opencode"],
  ["openwebui", "Open WebUI"],
  ["pi", "Pi"],
  ["qwen_code", "Qwen Code"],
  ["role_list", "JSON"],
  ["sharegpt", "ShareGPT"],
  ["specstory", "SpecStory"],
]);

export function toolName(format) {
  return TOOLS.get(format) ?? format;
}
