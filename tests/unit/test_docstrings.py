"""The examples in the docstrings of the kernel, and of what tests use, do what they show."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import chatmemory.effect
import chatmemory.testing

MODULES = [
    module.name
    for package in (chatmemory.effect, chatmemory.testing)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples_to_run() -> None:
    assert sum(doctest.testmod(import_module(name)).attempted for name in MODULES) >= 14
