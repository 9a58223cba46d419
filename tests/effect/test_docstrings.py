"""The examples in the kernel's docstrings do what they show."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import chatmemory.effect

PACKAGE = chatmemory.effect
MODULES = [module.name for module in pkgutil.walk_packages(PACKAGE.__path__, f"{PACKAGE.__name__}.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples_to_run() -> None:
    assert sum(doctest.testmod(import_module(name)).attempted for name in MODULES) >= 7
