"""Pages run without a browser, over a random reader and a small graph of tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.settings import MODELS, SMALLER


@pytest.fixture
def small_app(model_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app is started on the reader and graph of the tests; the graph's file."""
    import streamlit as st

    monkeypatch.setenv("KGQA_MODEL", str(model_folder))
    monkeypatch.setenv("KGQA_GRAPH", str(tools_file))
    monkeypatch.setenv("KGQA_READERS", str(model_folder))
    monkeypatch.setattr("apps.resources.shipped_readers", lambda: [MODELS / SMALLER])  # the quick one
    monkeypatch.delenv("KGQA_ALLOW_SPARQL", raising=False)
    monkeypatch.delenv("KGQA_SERVER", raising=False)
    st.cache_resource.clear()
    return tools_file


@pytest.fixture
def open_page(small_app: Path) -> Callable[[str], Any]:
    """Opens a page by name, as Streamlit's AppTest."""
    from streamlit.testing.v1 import AppTest

    def opened(name: str) -> Any:
        script = f"from apps.views.{name} import page\npage()\n"
        return AppTest.from_string(script, default_timeout=60)

    return opened
