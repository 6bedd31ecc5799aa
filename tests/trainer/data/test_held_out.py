from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from kgqa.data.augment import renamed
from kgqa.data.datasets.cards import DataUse
from kgqa.data.datasets.load import load_dataset
from kgqa.models.collation.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.settings import DATA_SETS, GRAPH_SUITE
from kgqa.trainer.data.held_out import LeakageGuard, held_out_sides, measure, split_held_out
from kgqa.trainer.data.mixture import DataSettings, check_uses
from kgqa.types import Example, InputError, Passage, Question, Subgraph


def test_no_passage_is_on_both_sides() -> None:
    stories = [
        Passage(f"{name} dug the garden on day {day}.") for day in range(200) for name in ("Ann", "She")
    ]
    asked = [
        Example(Question(f"what {i}?", passage=story), concepts=("spade",))
        for i in range(3)
        for story in stories
    ]
    sides = split_held_out(asked, 0.2)
    kept, held = ({example.question.passage_text for example in side} for side in sides)
    assert not kept & held and len(held) == 80
    every = [*asked, *renamed(asked, seed=0, share=1.0)]
    of_copies = [e.question.passage for e in split_held_out(every, 0.2)[1] if e not in asked]
    assert of_copies and not {passage.made_of for passage in of_copies if passage} & {
        example.question.passage_text for example in split_held_out(every, 0.2)[0]
    }


def test_the_share_is_met_in_few_rows_too_and_whatever_else_is_asked() -> None:
    rows = [Example(Question(f"what is {i}")) for i in range(2000)]
    for count in (10, 20, 40, 2000):
        assert sum(*held_out_sides([rows[:count]], 0.2)) == count / 5
    held = {e.question.text for e in split_held_out(rows, 0.1)[1]}
    assert held == {e.question.text for e in split_held_out(rows[::-1], 0.1)[1]}
    assert held < {e.question.text for e in split_held_out(rows, 0.3)[1]}
    assert not any(*held_out_sides([rows], 0.0))
    one_long = [
        Example(Question(f"what is {i}", passage=Passage("Ann dug." if i < 90 else f"{i}")))
        for i in range(100)
    ]
    (sides,) = held_out_sides([one_long], 0.2)
    assert not any(sides[:90]) and all(sides[90:])


def test_what_is_held_out_of_one_set_is_trained_on_in_none() -> None:
    sets = [
        [Example(Question(f"{name} {i}", passage=Passage(f"Ann dug on day {i}."))) for i in days]
        for name, days in (("who", range(100)), ("what", range(20)))
    ]
    kept, held = (
        {
            example.question.passage_text
            for rows, sides in zip(sets, held_out_sides(sets, 0.2), strict=True)
            for example, is_held in zip(rows, sides, strict=True)
            if is_held == side
        }
        for side in (False, True)
    )
    assert held and not kept & held


def test_loss_and_accuracy_over_all_kinds_of_questions(encoder, tokenizer, digging) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=1, num_heads=2)).eval()
    examples = [
        Example(Question("what is it", ("bee", "bee")), choice=1),
        Example(Question("what did i dig with"), concepts=tuple(digging.labels)),
        Example(Question("where")),
    ]
    collated = Collator(tokenizer)(examples, [[digging]] * 3, with_gold=True)
    figures = measure(reader, [collated, collated])
    assert figures["accuracy"] == 1.0 and figures["loss"] > 0
    assert {name for name in figures if "_" in name} == {"accuracy_choice", "accuracy_knowledge"}


def test_yes_and_no_are_told_apart_by_the_gate(encoder, tokenizer) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=1, num_heads=2, yes_no=True)).eval()
    output = [
        Example(Question("is it red", passage=Passage("the shovel is red")), yes_no_label=v)
        for v in (True, False)
    ]
    collated = Collator(tokenizer)(output, [[Subgraph()]] * 2, with_gold=True)
    figures = measure(reader, [collated])
    assert figures["accuracy"] == figures["accuracy_yes_no"] == 0.5, "the same question, yes and no"


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
