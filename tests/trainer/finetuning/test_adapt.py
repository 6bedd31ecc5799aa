"""Questions made of one's own graph, and a reader fitted to it."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

from kgqa.graph.load import open_graph
from kgqa.models.adapters import CHOICES, FORMS, READING, READS, adapted, save_adapter
from kgqa.models.pretrained import write_card
from kgqa.models.reader import load_reader, read_card
from kgqa.settings import GRAPH_SUITE
from kgqa.trainer.data.mixture import MixturePart, load_examples, split_off
from kgqa.trainer.finetuning import adapt
from kgqa.trainer.finetuning.adapt import (
    HELD_OUT,
    MAX_MEASURED,
    graph_questions,
    own_recipe,
    split_rows,
    train_short,
)
from kgqa.types import InputError


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return str(GRAPH_SUITE / "films.ttl")


def test_questions_are_about_facts_and_held_out_things_are_others(films: str) -> None:
    graph = open_graph(films)
    train, held = graph_questions(graph, 120)
    assert graph_questions(graph, 120) == (train, held)
    assert {e.kind for e in train} == {"one-hop", "reverse", "two-hop", "unanswerable"}
    edges = graph.neighbours(graph.ids(graph.names(graph.find(["Nine Winters"])[0])))
    about = set(graph.labels(edges.tail)) | set(graph.labels(edges.head))
    for example in (*train, *held):
        assert bool(example.concepts) == (example.kind != "unanswerable")
        if example.kind == "one-hop" and "Nine Winters" in example.question.text:
            assert set(example.concepts) <= about, example
    texts = {e.question.text for e in train}
    assert not texts & {e.question.text for e in held if e.kind == "one-hop"}


def test_too_small_a_graph_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "one.tsv").write_text("head\trelation\ttail\ntrowel\tmade by\tAda\n", encoding="utf-8")
    with pytest.raises(InputError, match="too few"):
        graph_questions(open_graph(str(tmp_path / "one.tsv")), 50)


# A training on one's own questions, without a recipe.


def rows(path: Path, count: int) -> Path:
    reported = [
        {"question": f"What did {n} dig with?", "answers": ["trowel"], "source": "knowledge"}
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in reported))
    return path


def test_what_is_not_said_has_a_default_and_may_be_changed(model_folder: Path, tmp_path: Path) -> None:
    data = rows(tmp_path / "mine.jsonl", 40)
    recipe = own_recipe(model_folder, data, "everyday", 3.0, ["trainer.max_steps=5", "held_out=0.3"])
    assert (recipe.name, recipe.trainer.max_minutes, recipe.trainer.max_steps) == ("mine", 3.0, 5)
    assert recipe.held_out == 0.3 != HELD_OUT and recipe.encoder.folder == str(model_folder)
    with pytest.raises(InputError, match="max_steps"):
        own_recipe(model_folder, data, "everyday", 3.0, ["trainer.max_stepz=5"])


def test_too_few_rows_are_refused_with_the_remedy(model_folder: Path, tmp_path: Path) -> None:
    kept, held = split_rows(own_recipe(model_folder, rows(tmp_path / "mine.jsonl", 60), "everyday", 1.0))
    assert (len(kept), len(held)) == (48, 12)
    limited = own_recipe(model_folder, tmp_path / "mine.jsonl", "everyday", 1.0, ["data.0.limit=30"])
    (part,) = (MixturePart(data, load_examples(data, None), [[]] * 30) for data in limited.data)
    assert [side.examples for (side,) in split_off([part], limited.held_out)] == list(split_rows(limited))
    assert limited.evaluate_questions == MAX_MEASURED
    with pytest.raises(InputError, match="too few; give 20 or more"):
        split_rows(own_recipe(model_folder, rows(tmp_path / "few.jsonl", 3), "everyday", 1.0))


def test_what_was_fitted_on_a_reader_stays_with_it(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copytree(model_folder, tmp_path / "trained")
    files = {"forms.safetensors", "amounts.safetensors", "fact_map.safetensors"}
    for name in files:
        (model_folder / name).write_bytes(name.encode())
    fitted = {"forms": {"prior": 2.0}, "amounts": {"layer": 1}, "decision": {"graph_free_weight": 0.1}}
    write_card(model_folder, {**read_card(model_folder), **fitted})
    monkeypatch.setattr(
        adapt, "train_reader", lambda _recipe, out: copytree(tmp_path / "trained", out / "export")
    )
    recipe = own_recipe(model_folder, rows(tmp_path / "mine.jsonl", 40), "everyday", 1.0)
    train_short(model_folder, recipe, tmp_path / "run")
    card = read_card(tmp_path / "run" / "export")
    assert {key: card[key] for key in fitted} == fitted and files <= set(card["checksums"])
    assert all((tmp_path / "run" / "export" / name).read_bytes() == name.encode() for name in files)


def test_beside_another_adapter_that_for_forms_stays_as_it_is(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, _ = load_reader(model_folder)
    save_adapter(adapted(reader, 2, own=READS), model_folder / READING, READS)
    save_adapter(adapted(reader, 2, own=(CHOICES,)), model_folder / FORMS, (CHOICES,))
    write_card(model_folder, read_card(model_folder))
    monkeypatch.setattr(adapt, "train_reader", lambda _recipe, out: copytree(model_folder, out / "export"))
    data, stored = rows(tmp_path / "mine.jsonl", 40), (model_folder / FORMS).read_bytes()
    for rank in (0, 2):
        recipe = own_recipe(model_folder, data, "everyday", 1.0, [f"encoder.adapter={rank}"])
        train_short(model_folder, recipe, tmp_path / str(rank))
        assert ((tmp_path / str(rank) / "export" / FORMS).read_bytes() == stored) == bool(rank)
