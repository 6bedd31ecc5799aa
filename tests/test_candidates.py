import numpy as np
import torch

from kgqa.candidates import led_first, merged, reordered, supposed, with_added, with_verdicts
from kgqa.operations.following import Led
from kgqa.types import Candidate, EvidencePath, NodeRole, Relation, Source, Span, Subgraph


def known(name: str, score: float) -> Candidate:
    return Candidate(name, Source.KNOWLEDGE, score, concept=name)


def names(candidates: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_the_gate_chooses_the_source_and_the_heads_order_within_it() -> None:
    spans = [Candidate("here", Source.PASSAGE, 0.9), Candidate("there", Source.PASSAGE, 0.1)]
    concepts = [known("trowel", 0.6), known("spade", 0.4)]
    gate = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.5, Source.NONE: 0.2}
    assert names(merged(gate, spans, concepts))[:3] == ["trowel", "spade", "here"]
    silent = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.1, Source.NONE: 0.6}
    assert merged(silent, spans, concepts)[0].source is Source.NONE


def test_yes_and_no_come_first_where_their_mean_is_likelier_than_every_source() -> None:
    ranked, sentence = [known("trowel", 0.5)], Span(0, 4)
    gate = {Source.KNOWLEDGE: 0.4}
    assert names(with_verdicts(ranked, gate, [0.4, 0.5], sentence)) == ["no", "yes", "trowel"]
    assert with_verdicts(ranked, gate, [0.4, 0.5], sentence)[0].span == sentence
    assert names(with_verdicts(ranked, gate, [0.1, 0.5], sentence)) == ["trowel", "no", "yes"]
    assert with_verdicts(ranked, gate, [], sentence) == ranked


def test_a_second_reading_reorders_what_it_read_and_keeps_the_sum() -> None:
    first = [known("a", 0.5), known("b", 0.3), known("c", 0.2)]
    again = reordered(first, torch.tensor([-5.0, -0.1]), (0.5, 1.0))
    assert names(again)[0] == "b" and abs(sum(c.score for c in again) - 1) < 1e-5
    assert next(c for c in again if c.text == "c").score == 0.2


def test_what_facts_lead_to_comes_before_all_else() -> None:
    graph = Subgraph(nodes=("a", "b", "c"), labels=("a", "b", "c"))
    led = [Led(2, 1.0, EvidencePath((0,), (True,), 1.0))]
    assert names(led_first([known("a", 0.9), known("b", 0.05), known("c", 0.05)], led, graph)) == [
        "c",
        "a",
        "b",
    ]


def test_ends_of_added_facts_are_among_those_read_again() -> None:
    candidates = [known(name, 1.0 - at / 10) for at, name in enumerate("abcdef")]
    assert names(with_added(candidates, {"f"}, 4)) == ["a", "f", "b", "c", "d", "e"]
    assert with_added(candidates, {"a"}, 4) == candidates


def test_an_added_fact_decides_where_its_relation_is_asked_for_of_what_is_named() -> None:
    graph = Subgraph(
        nodes=("dig", "spoon", "work", "sofa"),
        labels=("dig", "spoon", "work", "sofa"),
        roles=np.array([NodeRole.QUESTION, NodeRole.OTHER, NodeRole.OTHER, NodeRole.OTHER], dtype=np.int32),
        edges=np.array([[0, 0, 1], [0, 1, 2], [3, 0, 1]], dtype=np.int32),
        relations=(Relation("x:with", "has instrument"), Relation("x:is", "kind of")),
    )
    assert supposed("What do you dig with?", graph, {"dig", "spoon", "work"}) == {"spoon"}
    assert not supposed("What do you dig with?", graph, {"sofa", "spoon"})
    again = reordered(
        [known("spade", 0.9), known("spoon", 0.1)], torch.tensor([-0.1, -2.5]), (0.5, 1.0), {"spoon"}
    )
    assert names(again) == ["spoon", "spade"]
