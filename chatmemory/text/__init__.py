"""Text: words, CJK, stop words, the fence, counting tokens."""
