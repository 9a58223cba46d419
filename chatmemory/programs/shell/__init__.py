"""Code that both programs share: lazy loading of commands, options, confirmations, findings and exit codes."""
