"""The examples in the docstrings of the kernel, and of what tests use, do what they show."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import chatmemory.effect
import chatmemory.testing

MODULES = [
    module.name
    for package in (chatmemory.effect, chatmemory.testing)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


def test_the_examples_do_what_they_show() -> None:
    results = {name: doctest.testmod(import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) >= 14
