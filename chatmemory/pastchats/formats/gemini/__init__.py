"""The format of Gemini CLI."""
