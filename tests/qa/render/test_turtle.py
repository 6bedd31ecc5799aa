from kgqa.qa.render import Edit, edits_turtle, evidence_turtle, remove
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Question, Relation, Source, Subgraph, Triple


def test_edits_are_turtle_that_a_parser_reads(digging: Subgraph) -> None:
    import rdflib

    evil = Edit(Triple("x:a> . <y", "p", "x:b"), Relation("p", "p"), ('say "hi"\n\\', "b"))
    read = rdflib.Graph().parse(data=edits_turtle([evil, remove(digging, 0)]), format="turtle")
    assert len(read) == 3 + 4
    assert any(str(o) == 'say "hi"\n\\' for o in read.objects())


def test_the_facts_of_an_answer_are_turtle_too(digging: Subgraph) -> None:
    import rdflib

    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    evidence = Evidence(paths=(EvidencePath((0,), (False,), 0.5),), subgraph=digging)
    answer = Answer(Question("what"), "trowel", Source.KNOWLEDGE, 0.8, (best,), evidence)
    assert len(rdflib.Graph().parse(data=evidence_turtle(answer, [0]), format="turtle")) == 4
