from pathlib import Path

import numpy as np
import pytest

from kgqa.models.vectors.vector_file import load_named, save_named
from kgqa.types import InputError


@pytest.mark.parametrize("names", [[], ["spade"], ["http://x/é", "ice cream", ""]])
def test_rows_keep_their_names(tmp_path: Path, names: list[str]) -> None:
    rows = {"vectors": np.arange(2 * len(names), dtype=np.float16).reshape(-1, 2)}
    save_named(tmp_path / "new" / "a.safetensors", "names", names, rows, {"made": "here"})
    again, kept, about = load_named(tmp_path / "new" / "a.safetensors", "names", ["vectors"], "kgqa words")
    assert again == names and about == {"made": "here"}
    assert np.array_equal(kept["vectors"], rows["vectors"]) and kept["vectors"].dtype == np.float16


def test_what_is_wrong_is_said_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    with pytest.raises(InputError, match="no vectors.*kgqa words"):
        load_named(path, "names", ["vectors"], "kgqa words")
    save_named(path, "names", ["a", "b"], {"vectors": np.zeros((3, 2), np.float16)}, {})
    with pytest.raises(InputError, match="differ in number.*kgqa words"):
        load_named(path, "names", ["vectors"], "kgqa words")
    with pytest.raises(InputError, match="damaged"):
        load_named(path, "lemmas", ["vectors"], "kgqa words")
