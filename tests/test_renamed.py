"""Recipes, cards and options of earlier versions still open, and say the new name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from kgqa.cli import main
from kgqa.data.datasets.json_lines import read_table
from kgqa.data.datasets.load import load_dataset
from kgqa.models.arithmetic_head import FILE, ArithmeticHead, load_arithmetic_head, save_arithmetic_head
from kgqa.models.collation.input_config import InputConfig, input_config_of
from kgqa.models.load import open_reader
from kgqa.models.reader import read_card
from kgqa.qa.compute import FormCalibration
from kgqa.qa.decide import DecisionConfig
from kgqa.renamed import KEYS, OPTIONS, current_arguments, current_keys, current_row, current_weights
from kgqa.settings import MODELS, find_model
from kgqa.trainer.finetuning.reader import ReaderRecipe
from kgqa.trainer.recipe import load_recipe
from kgqa.types import InputError

OLD = """
name = "old"
without_facts = 0.2
[reading]
branches = true
verdicts = true
context = 4
meaning = "kgqa-facts"
[reasoner]
verdicts = true
[[data]]
name = "worlds"
reread = 20
[trainer]
best_metric = "accuracy_verdict"
"""


def test_an_old_recipe_opens_and_says_the_new_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.toml"
    path.write_text(OLD, encoding="utf-8")
    recipe = load_recipe(path, ["reading.max_tokens=64"], ReaderRecipe)
    assert recipe.input == InputConfig(
        max_tokens=64, packed=True, yes_no=True, context_facts=4, fact_encoder="kgqa-facts"
    )
    assert recipe.trainer.best_metric == "accuracy_yes_no"
    assert recipe.graph_dropout == 0.2 and recipe.reasoner.yes_no
    assert (recipe.data[0].name, recipe.data[0].as_one_of) == ("synthetic-graphs", 20)
    told = capsys.readouterr().err.splitlines()
    assert f"kgqa: {path}: reading is now called input" in told
    assert f"kgqa: {path}: data.name=worlds is now called data.name=synthetic-graphs" in told


def test_the_name_of_today_holds_where_both_are_given() -> None:
    assert current_keys({"reading": {"facts": 1, "stride": 2}, "input": {"facts": 3}}) == {
        "input": {"facts": 3, "stride": 2}
    }


def test_an_old_card_opens() -> None:
    card = current_keys(
        {
            "reading": {"branches": True},
            "gate": {"scale": 1.0, "shift": [0.0]},
            "decision": {
                "none_above": 0.5,
                "without_facts": 0.25,
                "calibration": {"verdict": [1.5, 0.5], "passage": [1.0, 0.0]},
            },
            "forms": {"unsaid": 1.5},
            "recipe": {"reading": {"verdicts": True}},
        }
    )
    assert input_config_of(card) == InputConfig(packed=True)
    assert card["answer_type"] == {"scale": 1.0, "shift": [0.0]}
    calibration = {"yes_no": (1.5, 0.5), "passage": (1.0, 0.0)}
    assert DecisionConfig.of_card(card) == DecisionConfig(
        calibration=calibration, no_answer_threshold=0.5, graph_free_weight=0.25
    )
    assert FormCalibration.of_card(card).no_form_bias == 1.5
    assert card["recipe"] == {"input": {"yes_no": True}}


@pytest.mark.parametrize("path", sorted(MODELS.glob("*/reader.json")), ids=lambda path: path.parent.name)
def test_shipped_cards_open(path: Path) -> None:
    card = current_keys(json.loads(path.read_text(encoding="utf-8")))
    assert not {key for key in KEYS if "." not in key} & set(card)
    assert input_config_of(card).max_nodes > 0 and DecisionConfig.of_card(card)


def test_old_weights_are_found() -> None:
    one = torch.ones(1)
    names = ("gate.out.2.bias", "stepper.clues.weight", "choice.gate.bias", "reasoner.marks.weight")
    assert list(current_weights(dict.fromkeys(names, one))) == [
        "answer_type.out.2.bias",
        "layerwise.clues.weight",
        "choice.gate.bias",
        "reasoner.node_features.weight",
    ]


def test_a_head_with_old_weights_opens(model_folder: Path, tmp_path: Path) -> None:
    reader = open_reader(model_folder, "cpu").network
    head = ArithmeticHead(reader.layerwise.hidden_size, 16)
    save_arithmetic_head(head, {}, tmp_path)
    stored = load_file(tmp_path / FILE)
    save_file({k.replace("answer_type.", "gate."): v for k, v in stored.items()}, tmp_path / FILE)
    opened = load_arithmetic_head(reader, tmp_path)
    assert opened is not None and opened[1].state_dict().keys() == head.state_dict().keys()


def test_rows_with_old_fields_are_read(tmp_path: Path) -> None:
    assert current_row({"id": 1, "verdict": True}) == {"id": 1, "yes_no": True}
    assert current_row({"yes_no": False, "verdict": True}) == {"yes_no": False}
    rows, table = tmp_path / "q.jsonl", tmp_path / "q.csv"
    rows.write_text('{"question": "Is it wet?", "passage": "It rained.", "verdict": true}\n')
    table.write_text("question,passage,verdict\nIs it wet?,It rained.,yes\n")
    assert [e.yes_no_label for path in (rows, table) for e in load_dataset(str(path))] == [True, True]
    (row,) = read_table("q.jsonl", rows.read_bytes())
    assert row.golds == ("yes",) and "verdict" in row.cells, "the cells are the user's own"


def test_old_options_are_understood(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert current_arguments(["ask", "--none-above", "0.5", "--worth=sum"]) == [
        *("ask", "--no-answer-threshold", "0.5", "--choice-score=sum")
    ]
    assert "kgqa: --worth is now called --choice-score" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["kgqa", "ask", "?", "--worth", "sum"])
    with pytest.raises(SystemExit):
        main.run()
    assert "--choice-score is for a causal language model" in capsys.readouterr().err
    assert all(new not in OPTIONS for new in OPTIONS.values())


def test_what_is_gone_is_told_in_one_line_and_passed_over_where_it_was_off(tmp_path: Path) -> None:
    assert current_keys({"words": "", "reasoner": {"word_size": 0, "operations": True, "name": "gsc"}}) == {
        "reasoner": {"name": "gsc"}
    }
    path = tmp_path / "old.toml"
    path.write_text('words = "kgqa-mini"\ndata = [{ name = "synthesis" }]\n')
    with pytest.raises(InputError, match=r"old.toml: words: readers no longer read word vectors"):
        load_recipe(path, [], ReaderRecipe)
    (tmp_path / "reader.json").write_text('{"format": 1, "reasoner": {"word_size": 200}}')
    with pytest.raises(InputError, match=r"reader.json: reasoner.word_size: readers no longer"):
        read_card(tmp_path)
    with pytest.raises(InputError, match="kgqa-everyday is no longer shipped; use kgqa-small"):
        find_model("kgqa-everyday")
