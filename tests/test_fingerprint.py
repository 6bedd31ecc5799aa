"""A key follows whatever a thing is made of."""

import sys
from pathlib import Path

import pytest

from kgqa.fingerprint import _text, fingerprint


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "words.py").write_text("A = 1\n")
    (folder / "words.toml").write_text("a = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.mark.parametrize("edited", ["words.py", "words.toml"])
def test_an_edited_module_or_table_is_noticed(package: Path, edited: str) -> None:
    import made_up.words

    before = fingerprint(made_up), fingerprint(made_up.words)
    assert before == (fingerprint(made_up), fingerprint(made_up.words))
    (package / edited).write_text("a = 2\n")
    _text.cache_clear()
    assert fingerprint(made_up) != before[0] and fingerprint(made_up.words) != before[1]
    for name in ("made_up", "made_up.words"):
        del sys.modules[name]


def test_files_count_by_content_and_settings_by_how_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("1")
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b") != fingerprint(str(tmp_path / "a"))
    assert fingerprint("ab", "c") != fingerprint("a", "bc") and fingerprint(1) != fingerprint("1")


def test_functions_count_by_their_text(package: Path) -> None:
    (package / "shapes.py").write_text("def area(a):\n    return a * a\n\n\ndef side(a):\n    return a\n")
    from made_up.shapes import area, side

    assert fingerprint(area) == fingerprint(area) != fingerprint(side)
    for name in ("made_up", "made_up.shapes"):
        del sys.modules[name]
