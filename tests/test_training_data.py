"""Training data and recipes: what may be trained on, and that nothing of it is measured."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgqa.data.datasets.cards import shipped_cards
from kgqa.data.datasets.load import DATASETS, load_dataset
from kgqa.models.reader import trained_on
from kgqa.settings import DATA_SETS, RECIPES, ROOT
from kgqa.trainer.data.held_out import LeakageGuard
from kgqa.trainer.data.mixture import MADE_UP
from kgqa.trainer.recipe import recipe_values

TRAINING = ROOT / "training"
FORMS = ("practice_graphs", "relation_families")
"""Sets whose rows have logical forms or relations in place of answers."""
FILES = sorted(path for path in DATA_SETS.glob("*/train/*.jsonl") if path.parts[-3] not in FORMS)


def sources(recipe: dict[str, Any]) -> list[str]:
    """Data sets that a recipe of a reader, an arithmetic head or a retriever trains on."""
    data = recipe.get("data", [])
    named = [table["name"] for table in data] if isinstance(data, list) else []
    named += recipe.get("retriever", {}).get("data", [])
    amounts = recipe.get("amounts", {"data": "", "others": {}})
    named += [name for name in (amounts["data"], *amounts["others"]) if name]
    return [name for name in named if name not in MADE_UP]


def test_every_file_has_a_card_and_every_published_set_a_part() -> None:
    cards = shipped_cards()
    known = {path for card in cards for path in card.files()}
    for path in DATA_SETS.rglob("*.jsonl"):
        assert path in known, f"{path.relative_to(ROOT)}: in no card.toml; add a part to that of its set"
    names = [name for card in cards for part in card.parts for name in part.names]
    assert set(names) >= set(DATASETS) and len(names) == len(set(names))


def test_splits_are_named_by_their_roles() -> None:
    for card in shipped_cards():
        for path, part in card.files().items():
            if path.is_relative_to(DATA_SETS) and path.parent != card.path.parent:
                assert path.parent.name == part.role, path


def test_hashes_and_the_table_of_sets_are_those_of_the_files() -> None:
    for path, text in runpy.run_path(str(TRAINING / "data_cards.py"))["pages"]().items():
        written = path.read_text(encoding="utf-8") if path.is_file() else ""
        if path.suffix == ".md":  # how many there are changes with each new training file
            written, text = (re.sub(r"\b\d[\d,]* ", "", page) for page in (written, text))
        assert written == text, f"{path}: run python training/data_cards.py"


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*/*.toml")), ids=lambda path: path.stem)
def test_no_recipe_trains_on_what_is_measured(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    guard = LeakageGuard()
    for name in sources(recipe_values(path)):
        guard.check_source(name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_training_row_has_a_passage_that_is_measured(path: Path) -> None:
    LeakageGuard().check_rows(str(path), load_dataset(str(path)))


def test_no_training_row_nearly_repeats_a_measured_one() -> None:
    found = runpy.run_path(str(TRAINING / "near_duplicates.py"))["pairs"]()
    output = [f"{trained.path.name} {trained.example.question.id}" for _, trained, _ in found]
    assert not output, f"run python training/near_duplicates.py --remove: {output}"


def test_a_reader_is_not_measured_on_what_it_was_trained_on() -> None:
    """Figures over sets that a reader's card names must be withdrawn."""
    lines = runpy.run_path(str(TRAINING / "results.py"))["rows"]()
    cards = shipped_cards()
    for card in sorted((TRAINING / "models").glob("*/reader.json")):
        about = json.loads(card.read_text(encoding="utf-8"))
        assert about.get("earlier_data"), f"{card}: does not say what the weights that it began from had read"
        trained = trained_on(about)
        for line in lines:
            if line["by"] == card.parent.name and (read := measured_by(line, cards) & trained):
                assert line.get("withdrawn"), f"{line['by']} on {line['of']} was trained on {read}"


def measured_by(line: dict[str, Any], cards: list[Any]) -> set[str]:
    """Names by which a recipe would read what a line measures: the set's own, its file, the names of its part."""
    words = line["command"].split()
    if words[:3] == ["kgqa", "suite", "graphs"] and "--data" not in words:
        words.append("tests/graphs/zoo.jsonl")
    found = {line.get("task", ""), *words}
    for card in cards:
        for path, part in card.files().items():
            if (
                path.relative_to(ROOT).as_posix() in found
                or path.parent.relative_to(ROOT).as_posix() in found
            ):
                found |= set(part.names)
    return found - {"", "own"}
