"""The formats of Claude: Claude Code, its prompts, and exports of Claude.ai."""
