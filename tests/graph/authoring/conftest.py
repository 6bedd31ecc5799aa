"""The shipped graph's sources, read once."""

from __future__ import annotations

import pytest

from kgqa.assets import GRAPHS
from kgqa.graph.authoring.compiling import SourceGraph, read_folder


@pytest.fixture(scope="session")
def everyday_sources() -> SourceGraph:
    """Some seconds of work; tests that share it are of the xdist group "everyday"."""
    return read_folder(GRAPHS / "everyday")
