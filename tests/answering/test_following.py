import torch
from ship import LABELS, said

from kgqa.answering.draft import KNOWLEDGE, NONE, Draft, HeadScores, Reached
from kgqa.answering.following import follow, gather, reached_first
from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.retrieval import retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.rereading import CandidateRow
from kgqa.types import (
    Candidate,
    Evidence,
    EvidencePath,
    Passage,
    Question,
    Source,
    Span,
    Subgraph,
    Triple,
)

SHIPS = GraphStore.from_triples([Triple("a", "b", "c")], name="ships")
EVERYDAY = GraphStore.from_triples([Triple("a", "UsedFor", "c"), Triple("b", "UsedFor", "c", 0.5)])


def known(name: str, score: float) -> Candidate:
    return Candidate(name, Source.KNOWLEDGE, score, concept=name)


def names(candidates: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


def draft(question: str, *named: str) -> Draft:
    """A question over the ship's facts, whose gate holds knowledge likely and whose concepts are all alike."""
    subgraph = said(question, *named)
    concepts = tuple(
        Candidate(label, Source.KNOWLEDGE, 0.1, concept=n)
        for n, label in zip(subgraph.nodes, LABELS, strict=True)
    )
    return Draft(
        Question(question), (subgraph,), HeadScores(torch.tensor([-1e4, 1.0, 0.0]), concepts=concepts)
    )


def score(rows: list[CandidateRow]) -> torch.Tensor:
    return torch.tensor([5.0 if row.question.choices == ("Ada Moss",) else 0.0 for row in rows])


def test_what_facts_lead_to_comes_before_all_else() -> None:
    graph = Subgraph(nodes=("a", "b", "c"), labels=("a", "b", "c"))
    reached = [Reached(2, 1.0, EvidencePath((0,), (True,), 1.0))]
    assert names(
        reached_first([known("a", 0.9), known("b", 0.05), known("c", 0.05)], reached, graph, 0.9)
    ) == [
        "c",
        "a",
        "b",
    ]


def test_the_end_of_the_way_that_is_read_best_comes_first_and_none_is_weighed_against_it() -> None:
    asked = draft("Who sails the Gull?", "Gull")
    (found,) = follow((asked,), SHIPS, score)
    assert found.scores.concepts[0].text == "Ada Moss" and LABELS[found.reached[0].node] == "Ada Moss"
    assert found.scores.gate[NONE] < found.scores.gate[KNOWLEDGE]
    assert asked.scores.gate[NONE] == 0.0 and not asked.reached  # the draft before is as it was


def test_over_what_everybody_knows_nothing_is_followed_and_an_unknown_name_speaks_for_none() -> None:
    known_name, unknown = draft("Who sails the Gull?", "Gull"), draft("Who sails the Kestrel?")
    kept, doubted = follow((known_name, unknown), EVERYDAY, score)
    assert kept is known_name
    assert doubted.scores.gate[NONE] > 0 and not doubted.reached


def test_what_the_same_relation_leads_to_is_the_answer_together_and_as_sure() -> None:
    """Of two plays one was given, at the half of what both are worth."""
    facts = [Triple("Ines", "directed", play) for play in ("Storm", "Salt")]
    graph = GraphStore.from_triples([*facts, Triple("Bruno", "directed", "Gala")], name="stage")
    subgraph = retrieve(Question("What did Ines direct?"), graph, Linker(graph), max_nodes=5)[0]
    step = next(n for n, triple in enumerate(subgraph.triples) if triple.tail == "Salt")
    node = subgraph.nodes.index("Salt")
    candidates = (known("Salt", 0.4), known("Storm", 0.35), known("Bruno", 0.1))
    reached = (Reached(node, 1.0, EvidencePath((step,), (True,), 1.0)),)
    asked = Draft(
        Question("What did Ines direct?"),
        (subgraph,),
        reached=reached,
        candidates=candidates,
        best=candidates[0],
        source=Source.KNOWLEDGE,
        evidence=Evidence(paths=(reached[0].path,), subgraph=subgraph),
    )
    (found,) = gather((asked,), graph, lambda candidate: candidate.score)
    assert {item.text for item in found.items} == {"Storm", "Salt"} and round(found.confidence, 2) == 0.75
    for item in found.items:
        (triple,) = found.evidence.triples(item.path)
        assert triple == Triple("Ines", "directed", item.text)
    answer = found.answer("", "")
    assert set(answer.text.split(", ")) == {"Storm", "Salt"} and answer.best == "Salt"
    assert [candidate.text for candidate in answer.runners_up] == ["Bruno"]


def test_a_span_that_joins_several_things_is_several_things() -> None:
    text = "Plants need light, water and carbon dioxide."

    def spans(*found: str) -> list[str]:
        candidates = tuple(
            Candidate(one, Source.PASSAGE, 0.5, Span(text.index(one), text.index(one) + len(one)))
            for one in found
        )
        asked = Draft(
            Question("What do plants need?", passage=Passage(text)),
            candidates=candidates,
            best=candidates[0],
            source=Source.PASSAGE,
        )
        (gathered,) = gather((asked,), SHIPS, lambda candidate: candidate.score)
        assert all(text[item.span.start : item.span.end] == item.text for item in gathered.items)
        return [item.text for item in gathered.items]

    assert spans("light, water and carbon dioxide") == ["light", "water", "carbon dioxide"]
    assert spans("water and carbon dioxide", "light") == []  # the reader has not found either by itself
    assert spans("water and carbon dioxide", "water") == ["water", "carbon dioxide"]
