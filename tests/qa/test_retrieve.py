from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.retrieval import subgraph
from kgqa.graph.retrieval.ablation import no_facts
from kgqa.limits.cancellation import cancel_when
from kgqa.models.collation.input_config import InputConfig
from kgqa.qa import retrieve as retrieve_module
from kgqa.qa.retrieve import LONGEST_KEPT, Retriever, retrieve
from kgqa.qa.state import QAState
from kgqa.types import Passage, Question, Triple

QUESTION = Question("What is a trowel used for?")
USED = "http://example.org/usedFor"
REMOVED = LabelledFact(
    Triple("http://example.org/trowel", USED, "http://example.org/plant"), ("trowel", "plant flowers")
)


@pytest.fixture
def retriever(tools_file: Path) -> Retriever:
    return Retriever(open_graph(tools_file), InputConfig(max_nodes=20))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the graph was asked."""
    found: list[str] = []
    real = subgraph.retrieve_subgraphs

    def counting(question: Question, *rest: object, **named: object):  # type: ignore[no-untyped-def]
        found.append(question.text)
        return real(question, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(subgraph, "retrieve_subgraphs", counting)
    return found


def test_what_was_found_is_kept_for_the_questions_asked_last(
    retriever: Retriever, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieve_module, "MAX_KEPT", 1)
    first = retriever.find(QUESTION)
    assert retriever.find(Question(QUESTION.text, id="again")) == first and len(asked) == 1
    retriever.find(Question("Why?"))
    retriever.find(QUESTION)  # the other was asked since
    long = Question("What?", passage=Passage("x " * LONGEST_KEPT))
    retriever.find(long), retriever.find(long)
    assert len(asked) == 5


def test_of_an_edited_graph_nothing_is_kept_and_its_labels_are_not_indexed_anew(
    retriever: Retriever, asked: list[str]
) -> None:
    without = retriever.with_edits((), [REMOVED])
    facts = [len(graph.edges) for graph in (retriever.find(QUESTION)[0], without.find(QUESTION)[0])]
    assert facts[0] == facts[1] + 1
    without.find(QUESTION)
    assert len(asked) == 3
    assert without.linker.nearest is retriever.linker.nearest
    again = retriever.over(OverlayGraph(retriever.graph, (), [REMOVED]))
    assert again.linker.nearest is retriever.linker.nearest
    assert retriever.over(open_graph("everyday")).linker.nearest is not retriever.linker.nearest


def test_what_is_taken_away_from_the_reader_is_found_all_the_same(retriever: Retriever) -> None:
    less = retriever.with_ablation(no_facts)
    assert len(less.find(QUESTION)[0].edges) and not len(less.retrieve(QUESTION)[0].edges)
    assert not len(less.with_edits().retrieve(QUESTION)[0].edges)
    graph_free = Retriever(retriever.graph, InputConfig(max_nodes=20, ablation="no-facts"))
    assert not len(graph_free.retrieve(QUESTION)[0].edges)


def test_the_stage_gives_each_question_its_subgraphs_and_tells_the_time(retriever: Retriever) -> None:
    checks: list[int] = []
    choosing = Question("What is used?", ("trowel", "excavator"))
    with cancel_when(lambda: bool(checks.append(1))):
        states = retrieve((QAState(QUESTION), QAState(choosing)), retriever)
    assert [len(state.subgraphs) for state in states] == [1, 2] and len(checks) >= 2
    assert set(states[0].timing_ms) == {"link", "retrieve"}


LABELLED = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <https://example.org/> .
:plant rdfs:label "plant flowers"@en, "Blumen pflanzen"@de ; :needs :trowel, :hose .
:trowel rdfs:label "trowel"@en, "Schaufel"@de .
:hose rdfs:label "hose"@en .
"""


def test_a_reader_of_any_language_is_shown_labels_of_the_questions(tmp_path: Path) -> None:
    (tmp_path / "garden.ttl").write_text(LABELLED, encoding="utf-8")
    question = Question("Womit kann ich Blumen pflanzen?")
    of_any = Retriever(open_graph(str(tmp_path / "garden.ttl")), InputConfig(multilingual=True))
    assert set(of_any.find(question)[0].labels) == {"Blumen pflanzen", "Schaufel", "hose"}
    assert set(of_any.find(Question("What do I plant flowers with?"))[0].labels) >= {
        "plant flowers",
        "trowel",
    }
    english = Retriever(of_any.whole, InputConfig())
    assert "Schaufel" not in english.find(question)[0].labels
