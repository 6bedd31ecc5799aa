import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.models.encoders.kept_structure import Structure, kept

STRUCTURE: Structure = {
    frozenset(): {"bert.configuration_bert": {"BertConfig"}},
    frozenset({"torch"}): {"bert.modeling_bert": {"BertModel", "BertForMaskedLM"}},
}


def test_what_was_found_out_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = []

    def find() -> Structure:
        asked.append(1)
        return STRUCTURE

    assert kept(find, "5.0") == kept(find, "5.0") == STRUCTURE and len(asked) == 1
    (file,) = (tmp_path / "kgqa" / "imports").iterdir()
    for damaged in ("{", "[1]", "{}[", '[[["torch"], []]]'):
        file.write_text(damaged)
        assert kept(find, "5.0") == STRUCTURE
    asked.clear()
    assert kept(find, "6.0.dev0") == kept(find, "6.0.dev0") == STRUCTURE and len(asked) == 2


def test_where_nothing_can_be_kept_it_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert kept(lambda: STRUCTURE, "5.0") == STRUCTURE


def test_transformers_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = """
import sys
if sys.argv[1] == "kept":
    from kgqa.models.encoders.kept_structure import import_transformers
    import_transformers()
import transformers
names = [name for name in dir(transformers) if name[0] != "_"]
print(transformers.__version__, len(names), sorted(names)[::50], transformers.BertModel, transformers.utils.__name__)
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", program, way], capture_output=True, text=True, check=True
        ).stdout
        for way in ("whole", "kept", "kept")
    ]
    assert said[0] == said[1] == said[2]
