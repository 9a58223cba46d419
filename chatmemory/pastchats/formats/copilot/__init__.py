"""The formats of GitHub Copilot: chat and CLI."""
