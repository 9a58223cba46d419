"""Every setting, with its default and its rule."""

from chatmemory.effect.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
