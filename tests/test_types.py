from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Question, Source, Span

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.6, concept="ev:trowel")
OTHERS = (
    Candidate("spade", Source.KNOWLEDGE, 0.2, concept="ev:spade"),
    Candidate("trowel", Source.KNOWLEDGE, 0.1, concept="ev:masons_trowel"),
    Candidate("spade", Source.PASSAGE, 0.05),
)


def test_runners_up_are_not_the_answer_and_read_differently() -> None:
    answer = Answer(Question("What?"), "trowel", Source.KNOWLEDGE, 0.6, (TROWEL, *OTHERS))
    assert answer.runners_up == OTHERS[:1]


def test_where_nothing_is_answered_the_best_candidate_is_a_runner_up() -> None:
    answer = Answer(Question("What?"), None, Source.NONE, 0.9, (TROWEL, *OTHERS))
    assert answer.runners_up == (TROWEL, OTHERS[0])


def test_a_yes_from_the_passage_is_no_span_of_it() -> None:
    assert Candidate("yes", Source.PASSAGE, 0.5, span=Span(0, 9)).sort == "verdict"
    assert Candidate("a trowel", Source.PASSAGE, 0.5).sort == "passage"
    assert Candidate("yes", Source.KNOWLEDGE, 0.5).sort == "knowledge"


def test_a_subgraph_and_its_evidence_become_networkx_graphs(digging) -> None:  # type: ignore[no-untyped-def]
    whole = digging.to_networkx()
    assert list(whole) == list(digging.nodes) and whole.number_of_edges() == len(digging.edges)
    triple = digging.triple(0)
    assert whole.edges[triple.head, triple.tail, triple.relation]["weight"] == triple.weight
    assert whole.nodes[triple.head]["label"] == digging.labels[digging.nodes.index(triple.head)]
    shown = Evidence(paths=(EvidencePath((0,), (True,), 1.0),), subgraph=digging).to_networkx()
    assert set(shown) == {triple.head, triple.tail} and shown.number_of_edges() == 1
    assert not len(Evidence().to_networkx())
