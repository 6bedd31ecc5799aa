import json
import shutil
from pathlib import Path

import pytest

from kgqa.data.datasets.cards import DataUse
from kgqa.data.datasets.load import load_dataset
from kgqa.settings import DATA_SETS, GRAPH_SUITE
from kgqa.trainer.data.held_out import LeakageGuard
from kgqa.trainer.data.mixture import DataSettings, check_uses
from kgqa.types import InputError

DEVELOPMENT = DATA_SETS / "everyday" / "development" / "everyday_dev.jsonl"


def write(path: Path, **row: object) -> str:
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return str(path)


def test_a_file_that_is_measured_is_refused_wherever_it_lies(tmp_path: Path) -> None:
    copy = tmp_path / "mine.jsonl"
    shutil.copy(DEVELOPMENT, copy)
    for path in (DEVELOPMENT, copy, tmp_path / "*.jsonl"):
        with pytest.raises(
            InputError, match=r"everyday_dev.jsonl, which training/data/everyday/card.toml marks"
        ):
            LeakageGuard().check_source(str(path))
    with pytest.raises(InputError, match=r"zoo.jsonl, which tests/graphs/card.toml marks as development"):
        LeakageGuard().check_source(str(GRAPH_SUITE / "zoo.jsonl"))
    LeakageGuard().check_source(str(DATA_SETS / "everyday" / "train" / "*.jsonl"))


def test_a_published_set_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match="squad1-dev, which training/data/published/card.toml marks"):
        LeakageGuard().check_source("squad1-dev")
    with pytest.raises(InputError, match="tests/graphs/card.toml marks as development"):
        LeakageGuard().check_source("graph-questions")
    LeakageGuard().check_source("squad1-train")


def test_a_row_with_a_passage_that_is_measured_is_refused(tmp_path: Path) -> None:
    passage = next(e.question.passage_text for e in load_dataset(str(DEVELOPMENT)) if e.question.passage)
    file = write(tmp_path / "mine.jsonl", question="Why?", passage=f"  {passage.upper()}", answers=[])
    with pytest.raises(InputError, match=r"mine.jsonl: row 1 .* is of .*everyday_dev.jsonl, which"):
        check_uses([DataSettings(name=file)])
    file = write(tmp_path / "mine.jsonl", question="Why?", passage="A passage of nobody's.", answers=[])
    check_uses([DataSettings(name=file), DataSettings(name="synthetic-graphs")])


def test_the_card_beside_a_set_of_ones_own_counts_too(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.jsonl", question="Why?", answers=[])
    card = (
        'about = "x"\nlicence = "x"\n[[parts]]\nfiles = "*.jsonl"\nrole = "test"\nasks = "x"\nauthor = "x"\n'
    )
    (tmp_path / "card.toml").write_text(card, encoding="utf-8")
    with pytest.raises(InputError, match="marks as test"):
        check_uses([DataSettings(name=file)])


def test_questions_are_not_made_of_graphs_that_are_measured() -> None:
    with pytest.raises(InputError, match=r"zoo.ttl"):
        check_uses([DataSettings(name="synthesis", graph=str(GRAPH_SUITE / "zoo.ttl"))])


def test_a_development_set_may_choose_and_a_test_set_may_not() -> None:
    train = [DataSettings(name="synthetic-graphs")]
    check_uses(train, [DataSettings(name=str(DEVELOPMENT))])
    with pytest.raises(InputError, match="marks as test"):
        check_uses(train, [DataSettings(name=str(DATA_SETS / "everyday" / "test" / "everyday_test.jsonl"))])
    assert "sciq-dev" in LeakageGuard(allowed=[DataUse.TRAIN, DataUse.DEVELOPMENT]).names
