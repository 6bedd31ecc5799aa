import json
from pathlib import Path

import pytest

from kgqa.cli.training.recipes import train_recipe


def test_from_a_recipe_to_labels(
    tokenizer, tokenizer_folder: Path, encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    from kgqa.cli.asking.classifying import classify_file

    monkeypatch.chdir(tmp_path)
    encoder.save_pretrained("encoder")
    Path("encoder/tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    rows = [{"id": 1, "text": "red hole", "label": "a"}, {"id": 2, "text": "blue hole", "label": "b"}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("mine.toml").write_text(
        'name = "mine"\n[encoder]\nfolder = "encoder"\n[task]\nkind = "sentence"\ntrain = "rows.jsonl"\nepochs = 1\n'
    )
    train_recipe(Path("mine.toml"), [], None)
    classify_file(Path("rows.jsonl"), Path("out.jsonl"), Path("runs/mine/export"), 16, "cpu")
    told = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in told] == [1, 2] and set(told[0]["scores"]) == {"a", "b"}
