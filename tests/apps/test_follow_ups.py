from apps.follow_ups import follow_ups
from kgqa.graph.suggested_questions import relation_question
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Question, Source, Subgraph


def test_each_asks_for_another_fact_that_is_there(digging: Subgraph) -> None:
    best = Candidate("excavator", Source.KNOWLEDGE, 0.9, concept="ev:excavator")
    evidence = Evidence(subgraph=digging, paths=(EvidencePath((1, 2), (True, False), 0.5),))
    answer = Answer(Question("what"), "excavator", Source.KNOWLEDGE, 0.9, (best,), evidence)
    found = follow_ups(answer, relation_question)
    assert len(found) == len(set(found)) <= 3
    heads = {digging.labels[int(head)] for head in digging.edges[:, 0]}
    assert all(any(label in asked for label in heads) for asked in found)
    alone = Answer(Question("what"), None, Source.NONE, 0.9)
    assert follow_ups(alone, relation_question) == []
