import numpy as np

from apps.follow_ups import follow_ups, in_english
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Question, Relation, Source, Subgraph
from kgqa.verbalize.questions import relation_question


def test_each_asks_for_another_fact_that_is_there(digging: Subgraph) -> None:
    best = Candidate("excavator", Source.KNOWLEDGE, 0.9, concept="ev:excavator")
    evidence = Evidence(subgraph=digging, paths=(EvidencePath((1, 2), (True, False), 0.5),))
    answer = Answer(Question("what"), "excavator", Source.KNOWLEDGE, 0.9, (best,), evidence)
    found = follow_ups(answer, relation_question)
    assert len(found) == len(set(found)) <= 3
    heads = {digging.labels[int(head)] for head in digging.edges[:, 0]}
    assert all(any(label in asked for label in heads) for asked in found)
    german = Answer(Question("Womit habe ich gegraben?"), "Bagger", Source.KNOWLEDGE, 0.9, (best,), evidence)
    assert follow_ups(german, relation_question) == []
    alone = Answer(Question("what"), None, Source.NONE, 0.9)
    assert follow_ups(alone, relation_question) == []


def test_what_holds_of_many_things_is_not_asked_about() -> None:
    relations = (Relation("http://example.org/HasProperty", "has property", types=frozenset({"quality"})),)
    relations += (Relation("http://example.org/causes", "causes"),)
    relations += (Relation("http://example.org/HeavierThan", "is heavier than"),)
    edges = np.array([[0, 0, 1], [1, 1, 2], [0, 2, 2], [0, 1, 2]], dtype=np.int32)
    graph = Subgraph(("water", "wet", "rust"), ("water", "wet", "rust"), edges=edges, relations=relations)
    found = (Candidate("wet", Source.KNOWLEDGE, 0.9, concept="wet"),)
    found += (Candidate("water", Source.KNOWLEDGE, 0.1, concept="water"),)
    answer = Answer(Question("what"), "wet", Source.KNOWLEDGE, 0.9, found, Evidence(subgraph=graph))
    assert follow_ups(answer, in_english) == ["What does water cause?"]
