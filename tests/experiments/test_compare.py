import json
from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.load import open_graph
from kgqa.models.reader import save_reader
from kgqa.models.reasoners import REASONERS
from kgqa.qa.answerer import Answerer
from kgqa.settings import cache_folder
from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.finetuning.reader import build, prepare
from kgqa.trainer.loop import TrainResult
from kgqa.types import InputError, NodeRole
from training.experiments import compare as compare_module
from training.experiments.baselines import RetrievalAlone
from training.experiments.compare import (
    BASELINE,
    ROWS,
    ComparisonRecipe,
    Outcome,
    collapsed,
    compare,
    figures,
    recipe_of_row,
    table,
)


@pytest.fixture
def recipe(
    tmp_path: Path, encoder_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> ComparisonRecipe:
    compiled = cache_folder("graphs")
    compiled.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache_folder("graphs").parent.mkdir(parents=True)
    cache_folder("graphs").symlink_to(compiled)  # compiling the everyday graph takes 18 s
    own = [{"question": "What plants flowers?", "answers": ["trowel"]}] * 4
    chosen = [{"question": "What plants flowers?", "choices": ["a trowel", "a bee"], "choice": 0}] * 4
    for name, rows in (("open", own), ("chosen", chosen)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sets = [
        {"name": str(tmp_path / f"{n}.jsonl"), "graph": str(tools_file), "batch_questions": 2}
        for n in ("chosen", "open")
    ]
    return ComparisonRecipe.model_validate(
        {
            "encoder": {"folder": str(encoder_folder)},
            "reasoner": {"graph_size": 16, "num_layers": 1, "num_heads": 2},
            "data": sets,
            "columns": sets,
            "deletion_questions": 2,
            "trainer": {"max_steps": 1, "precision": "fp32"},
        }
    )


def test_rows_are_trained_asked_and_not_trained_again(
    recipe: ComparisonRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*rows: str):
        return compare(recipe, tmp_path / "runs", rows=rows, seeds=range(2))

    found = run("fused, no direct facts", "text-only")
    assert [(o.row, o.seed) for o in found[::2]] == [
        ("text-only", 0),
        ("text-only", 1),
        ("fused, no direct facts", 0),
        ("fused, no direct facts", 1),
    ]
    assert set(found[0].values) == {"accuracy"} and len(found[0].values["accuracy"]) == 4
    assert set(found[1].values) == {"hits@1", "hits@10", "MRR"} and found[0].chance == 0.5
    assert found[0].parameters < found[-1].parameters
    card = json.loads((tmp_path / "runs" / "fused-no-direct-facts-1" / "export" / "reader.json").read_text())
    assert card["input"]["ablation"] == "no-direct-edges" and card["recipe"]["trainer"]["seed"] == 1

    monkeypatch.setattr(compare_module, "train_reader", lambda *_: pytest.fail("trained again"))
    again = run("text-only", "retrieval alone")
    assert len(again) == 10 and [o.row for o in again[4:6]] == ["retrieval alone"] * 2
    assert again[4].values["accuracy"] == [1.0] * 4 and again[4].parameters == 0


def test_untrained_text_with_the_prior_ranks_as_the_retriever_does(
    recipe: ComparisonRecipe, tmp_path: Path
) -> None:
    """The control of the comparison begins where every row over the graph begins, and text alone does not."""
    asked = tmp_path / "digging.jsonl"
    asked.write_text(json.dumps({"question": "What did I dig the garden with?", "answers": ["spade"]}) + "\n")
    graph = open_graph("everyday")
    part = prepare(DataSettings(name=str(asked)), recipe, tmp_path / "subgraphs")
    question, (subgraph,) = part.examples[0].question, part.subgraphs[0]
    (alone,) = RetrievalAlone(graph, recipe.input.max_nodes).read([question], [[subgraph]])
    relevance = dict(zip(subgraph.nodes, subgraph.scores.tolist(), strict=True))
    linked = {subgraph.nodes[n] for n in np.flatnonzero(subgraph.roles != int(NodeRole.OTHER))}
    for row, same in (("text-only, retriever prior", True), ("k-bert", True), ("text-only", False)):
        reader, _, source = build(recipe_of_row(recipe, row, seed=3))
        card = {"name": row, "input": recipe.input.model_dump(), "recipe": {}}
        save_reader(reader, source, tmp_path / row, card)
        (answer,) = Answerer.load(str(tmp_path / row), graph, device="cpu").read([question], [[subgraph]])
        # by their relevance, since concepts that are equally relevant stand in any order
        found = [relevance[c.concept] for c in answer.candidates if c.concept not in linked]
        assert len(found) > 4
        expected = [relevance[c.concept] for c in alone.candidates][: len(found)]
        assert (found == pytest.approx(expected)) == same, row


def test_a_stopped_training_leaves_no_outcome(
    recipe: ComparisonRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = TrainResult(tmp_path, 1, 1, 0.1, 1.0, interrupted=True)
    monkeypatch.setattr(compare_module, "train_reader", lambda *_: stopped)
    with pytest.raises(KeyboardInterrupt):
        compare(recipe, tmp_path / "runs", rows=["fused"], seeds=[0])
    assert not list((tmp_path / "runs").glob("*/outcomes.json"))


def test_two_recipes_do_not_share_a_table(recipe: ComparisonRecipe, tmp_path: Path) -> None:
    def made(recipe: ComparisonRecipe) -> None:
        compare(recipe, tmp_path / "runs", rows=[], seeds=[])

    made(recipe)
    (tmp_path / "runs" / "fused-0").mkdir()
    (tmp_path / "runs" / "fused-0" / "outcomes.json").write_text("[]")
    made(recipe)
    with pytest.raises(InputError, match="max_nodes=100, the recipe has 9"):
        made(recipe.model_copy(update={"input": recipe.input.model_copy(update={"max_nodes": 9})}))
    asked = tmp_path / "open.jsonl"
    asked.write_text(asked.read_text().replace("trowel", "spade"))
    with pytest.raises(InputError, match="trained with other questions"):
        made(recipe)


def test_every_reasoner_and_every_ablation_has_its_row() -> None:
    assert {row["reasoner"] for row in ROWS.values() if row} == set(REASONERS) - {"pyg"}, "of any convolution"
    assert {row.get("ablation") for row in ROWS.values()} >= {"shuffled", "no-direct-edges", "no-facts"}


def outcome(row: str, seed: int, right: list[float], chance: float = 0.2, faithful=()) -> Outcome:
    return Outcome(
        row, seed, "own/csqa.jsonl", {"accuracy": right}, chance, 7_000_000, 2.0, 12.0, list(faithful)
    )


def test_the_table_has_mean_spread_gain_and_collapsed_seeds() -> None:
    base = [1.0] * 30 + [0.0] * 70
    good = [1.0] * 60 + [0.0] * 40
    rows = [outcome(BASELINE, 0, base), outcome(BASELINE, 1, base)]
    rows += [outcome("fused", 0, good, faithful=[1.0, 0.0]), outcome("fused", 1, [0.0] * 100)]
    rows += [outcome("gsc", 0, good), outcome("kagnet", 1, [0.0] * 100)]
    lines = table(rows).splitlines()
    assert lines[0].startswith("| reader | csqa.jsonl: accuracy | ")
    assert "30.0 ± 0.0 |" in lines[2] and lines[2].endswith("| 7.0M | 2.0 | 12 | 2 | 0 |")
    assert "30.0 ± 42.4 (+0.0)" in lines[3] and lines[3].endswith("| 50 % of 2 | 7.0M | 2.0 | 12 | 2 | 1 |")
    assert "60.0 (+30.0*)" in lines[4] and "0.0 (-30.0†)" in lines[5]


def test_a_row_as_data_has_mean_and_spread() -> None:
    rows = [outcome("fused", seed, [1.0] * right, faithful=[1.0, 0.0]) for seed, right in ((0, 10), (1, 10))]
    rows[1].values["accuracy"][:] = [0.0] * 10
    (reported,) = figures(rows)
    assert reported["by"] == "fused" and reported["seeds"] == 2 and reported["deletion"] == 0.5
    assert reported["csqa: accuracy"] == [0.5, 0.5**0.5]


def test_a_reader_collapsed_where_it_is_no_better_than_guessing() -> None:
    assert collapsed([outcome("a", 0, [1.0] * 25 + [0.0] * 75)])
    assert not collapsed([outcome("a", 0, [1.0] * 25 + [0.0] * 75), outcome("a", 0, [1.0] * 100)])
    assert collapsed([outcome("a", 0, [0.0] * 9, chance=0.0)])
    assert not collapsed([outcome("a", 0, [0.0] * 9 + [1.0], chance=0.0)])
