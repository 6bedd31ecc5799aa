import random

import pytest

from kgqa.data.synthetic.facts import Facts, find_groups
from kgqa.data.synthetic.questions import SHE, I, PassageWriter
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Triple

FACTS = [
    Triple("brush teeth", "HasInstrument", "toothbrush"),
    Triple("brush teeth", "AtLocation", "bathroom"),
    Triple("toothbrush", "UsedFor", "brush teeth"),
]


@pytest.fixture
def passage_writer() -> PassageWriter:
    facts = Facts(GraphStore.from_triples(FACTS))
    return PassageWriter(facts, [*find_groups(facts, False), *find_groups(facts, True)])


def test_a_passage_tells_of_the_event_and_hides_the_answer(passage_writer: PassageWriter) -> None:
    facts = passage_writer.facts
    groups = {g.name: g for dev in (False, True) for g in find_groups(facts, dev)}
    head = facts.texts.index("brush teeth")
    for seed in range(200):
        reported = passage_writer.write(head, groups["instrument"], random.Random(seed), "", False, SHE)
        assert reported
        sentences, question = reported
        assert 1 <= len(sentences) <= 6
        assert " her teeth" in " ".join(sentences)
        assert question[0].isupper() or question[0] == "I"
        assert "{" not in question


def test_the_question_names_the_person_as_the_passage_allows(passage_writer: PassageWriter) -> None:
    asked = {passage_writer.asked(I, [], random.Random(i))["q"] for i in range(20)}
    assert asked == {"I", "you"}


def test_long_labels_are_left_out(passage_writer: PassageWriter) -> None:
    passage_writer.facts.texts[0] = "x" * 80
    assert passage_writer.slots(0, SHE, random.Random(0)) is None
