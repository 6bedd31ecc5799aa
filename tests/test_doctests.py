"""The examples in docstrings do what they say; those of modules without torch, so that this takes a second."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "kgqa"
NEED_A_MODEL = {PACKAGE / "__init__.py"}
"""Their example asks the shipped reader; `tests/test_readme.py` and `make wheel` run its like."""
WITH_EXAMPLES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8") and path not in NEED_A_MODEL
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_examples_are_true(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    failed, attempted = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert attempted and not failed
