"""The format of Codex CLI."""
