"""Functions on text: search terms, CJK characters, stop words, dates in queries, fences, and shortening."""
