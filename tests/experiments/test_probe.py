from pathlib import Path

import pytest

from kgqa.types import InputError
from training.experiments import probe as probe_module
from training.experiments.probe import (
    check_data,
    choose_tasks,
    figures_of,
    held_out_texts,
    label,
    probe,
    settings_words,
    table_row,
)


def test_tasks_by_name() -> None:
    assert choose_tasks("rte, heldout") == ["heldout", "rte"]
    assert choose_tasks("squad") == ["squad1", "squad2"]
    with pytest.raises(InputError, match="unknown probe 'glue'"):
        choose_tasks("glue")


def test_missing_data_is_named_before_anything_runs(glue: Path) -> None:
    check_data(glue, ["csqa", "squad1", "cola", "sst2", "rte"])
    with pytest.raises(InputError, match=r"train-v2\.0"):
        check_data(glue, ["squad2"])
    with pytest.raises(InputError, match="blimp"):
        check_data(glue, ["blimp"])
    with pytest.raises(InputError, match="KGQA_DATA"):
        check_data(glue, ["heldout"])


def test_figures_are_kept_and_their_spread_is_told(mlm_folder: Path, glue: Path, tmp_path: Path) -> None:
    first = probe(str(mlm_folder), ["cola"], glue, tmp_path / "kept", max_tokens=300, seeds=2)
    assert {"accuracy", "matthews", "matthews_sd"} <= set(first["cola"])
    (glue / "qa" / "glue" / "CoLA" / "in_domain_train.tsv").unlink()
    again = probe(str(mlm_folder), ["cola"], glue, tmp_path / "kept", max_tokens=300, seeds=2)
    assert again == first, "nothing is measured twice"
    other = probe(str(mlm_folder), ["cola"], glue, tmp_path / "kept", max_tokens=300, seeds=1)
    assert "matthews_sd" not in other["cola"]


def test_held_out_loss_of_texts_that_no_run_reads(
    mlm_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").mkdir()
    monkeypatch.setattr(probe_module, "HELD_OUT", ("days",))
    import zstandard

    text = "\n\n".join(f"i dig in the garden on day {n} ." for n in range(4000))
    (tmp_path / "text" / "days.txt.zst").write_bytes(zstandard.compress(text.encode()))
    assert 5 < len(held_out_texts(tmp_path)) < 40
    figures = probe(str(mlm_folder), ["heldout"], tmp_path, tmp_path / "kept")
    assert 2 < (figures["heldout"]["loss"] or 0) < 8


def test_a_row_and_its_figures() -> None:
    made = settings_words(1000, 400_000, 1, 100)
    assert made == "1 seed, 400,000 tokens, first 1000 questions, 100 pairs a paradigm"
    reported = {
        "heldout": {"loss": 3.456},
        "cola": {"matthews": 0.123, "matthews_sd": 0.01},
        "blimp": {"accuracy": None},
    }
    assert table_row("a", reported, made).startswith("| a | 3.46 | - |") and "| 12.3 ± 1.0 |" in table_row(
        "a", reported, made
    )
    assert figures_of(reported) == {"heldout": [3.456], "cola": [0.123, 0.01]}


def test_labels(tmp_path: Path) -> None:
    (tmp_path / "run" / "export-stable").mkdir(parents=True)
    assert label(tmp_path / "run" / "export-stable") == "run-stable"
    assert label(tmp_path / "run", from_scratch=True) == "run (random)"
