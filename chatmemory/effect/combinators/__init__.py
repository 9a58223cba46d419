"""How effects run together, again, within a time, in a scope and in a span: the work behind the methods of ``Effect``."""
