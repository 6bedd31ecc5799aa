"""The shipped graph's sources, read once."""

from __future__ import annotations

import pytest

from graph_data.build.compile import SourceGraph, read_folder
from kgqa.settings import GRAPHS


@pytest.fixture(scope="session")
def everyday_sources() -> SourceGraph:
    """Some seconds of work; tests that share it are of the xdist group "everyday"."""
    return read_folder(GRAPHS / "everyday")
