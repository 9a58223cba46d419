"""How memory is kept, and what it runs on: every module exports Layer values."""
