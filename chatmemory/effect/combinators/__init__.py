"""The work behind the methods of ``Effect``: running effects together, again, within a time, in a scope and in a span."""
