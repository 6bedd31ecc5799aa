import copy

import pytest
import torch

from kgqa.batch import QABatch
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.finetuning import PAIRS, QA, consistency, count_pairs
from kgqa.types import Example, Passage, Question, Span

PASSAGE = Passage("I want to plant flowers, so I dug the ground.")


def asked(*texts: str, same: str = "a", passage: Passage | None = PASSAGE) -> list[Example]:
    return [Example(Question(t, passage=passage), spans=(Span(16, 23),), same=same) for t in texts]


@pytest.fixture
def reader(encoder) -> Reader:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    settings = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, dropout=0.0, yes_no=True)
    reader = Reader(encoder, settings).eval()
    with torch.no_grad():  # as first drawn it says much the same of every text
        for weights in reader.parameters():
            weights += 0.15 * torch.randn_like(weights)
    return reader


@pytest.fixture
def make(tokenizer, digging):  # type: ignore[no-untyped-def]
    collator = Collator(tokenizer, InputConfig(packed=True, candidates=3, yes_no=True))

    def batch(examples: list[Example]) -> QABatch:
        return collator(examples, [[digging]] * len(examples), with_gold=True).batch

    return batch


def test_equal_wordings_agree_and_others_do_not(reader, make) -> None:  # type: ignore[no-untyped-def]
    for texts, least in (
        (("what was planted", "what was planted"), False),
        (("what grew", "who dug here"), True),
    ):
        batch = make(asked(*texts))
        apart, pairs = consistency(reader(batch), batch)
        assert pairs == 1 and (apart.item() > 1e-4) is least


def test_what_is_no_wording_of_the_other_is_no_pair(make) -> None:  # type: ignore[no-untyped-def]
    other = Passage("It rained.")
    examples = [*asked("what", same="a"), *asked("what", same="b"), *asked("what", same="")]
    beside = [Example(Question("what", passage=other), same="a")]
    assert count_pairs(make([*examples, *beside])) == 0
    assert count_pairs(make([*asked("what"), *examples, *asked("which", "where")])) == 3


def test_it_draws_wordings_together(reader, make) -> None:  # type: ignore[no-untyped-def]
    batch = make(asked("what was planted", "which things did I plant there"))
    start, left = copy.deepcopy(reader.state_dict()), []
    for weight in (0.0, 20.0):
        reader.load_state_dict(start)
        objective = QA(reader, lambda *_: None, consistency=weight)
        optimizer = torch.optim.Adam(objective.parameters(), lr=1e-3)
        for _ in range(10):
            optimizer.zero_grad()
            objective(batch).total.backward()
            optimizer.step()
        left.append(consistency(reader(batch), batch)[0].item())
    assert left[1] < left[0] / 2


def test_it_is_a_term_of_the_loss_only_where_it_is_asked_for(reader, make) -> None:  # type: ignore[no-untyped-def]
    batch = make(asked("what was planted", "what grew"))
    plain, with_it = QA(reader, lambda *_: None), QA(reader, lambda *_: None, consistency=2.0)
    loss, more = plain(batch), with_it(batch)
    assert PAIRS not in loss.terms and plain.counts(batch) == loss.counts
    assert with_it.counts(batch) == more.counts and more.counts[PAIRS] == 1
    apart = consistency(reader(batch), batch)[0]
    assert more.total.item() == pytest.approx(loss.total.item() + 2 * apart.item(), rel=1e-5)
    alone = make(asked("what was planted"))
    assert with_it(alone).total.item() == pytest.approx(plain(alone).total.item())
