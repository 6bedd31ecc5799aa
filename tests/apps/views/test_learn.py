from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_without_an_encoder_the_page_says_so(
    open_page: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_ENCODER", str(tmp_path))
    page = open_page("learn").run()
    assert not page.exception and "No pretrained encoder" in page.info[0].value
