from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgqa.answering.computing import _read, operate
from kgqa.answering.deciding import decide
from kgqa.answering.decision import Decision
from kgqa.answering.draft import Draft
from kgqa.answering.operations.telling import UNTOLD
from kgqa.answering.retrieving import Retriever
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import Fact, OverlayGraph
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.graph.serving import serve
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import OPERATIONS, Answer, KnowledgeGraph, Question, Source, Subgraph, Triple

NAME = "http://fleet.example/"
NOTHING = GraphStore.from_triples([Triple("a", "b", "c")])
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Reads:
    """Chooses the operand with a word in it, and is sure of an operation."""

    def __init__(self, word: str, operation: str) -> None:
        self.word, self.operation = word, operation

    def choose(self, questions):
        sure = torch.tensor([float(name == self.operation) for name in OPERATIONS])
        return [
            (torch.tensor([5.0 * (self.word in choice) for choice in q.choices]), sure) for q in questions
        ]


@pytest.fixture
def ask(fleet):
    def answer(
        text: str,
        word: str,
        operation: str,
        source: Source = Source.NONE,
        graph: KnowledgeGraph = fleet.graph,
    ) -> Answer:
        drafts = operate(
            (fleet.draft(Question(text), source),),
            Retriever(graph, linker=Linker(graph)),
            Reads(word, operation),
        )
        return decide(drafts, Decision())[0].answer("", "")

    return answer


def test_the_facts_are_the_evidence_and_the_query_says_the_same(ask, file: Path) -> None:
    import pyoxigraph

    answer = ask("How many ships does the Island Line own?", "; ship", "count")
    assert answer.text == "2"
    facts = answer.evidence.triples(answer.evidence.paths[0])
    assert {fact.tail for fact in facts} == {f"{NAME}Gull", f"{NAME}Tern"}
    store = pyoxigraph.Store()
    store.load(path=file)
    assert next(iter(store.query(answer.evidence.query)))[0].value == "2"
    older = ask("Which ship is older, Gull or Tern?", "built in of", "least")
    assert older.candidates[0].concept == f"{NAME}Gull"
    assert next(iter(store.query(older.evidence.query)))[0].value == f"{NAME}Gull"
    assert bool(store.query(ask("Was Ada Berg born in Oslo?", "born in", "exists").evidence.query))


def test_an_edit_changes_the_answer(ask, fleet) -> None:
    owned = Fact(Triple(f"{NAME}Line", f"{NAME}owns", "new:Skua"), ("Island Line", "Skua"))
    ship = Fact(Triple("new:Skua", TYPE, f"{NAME}Ship"), ("Skua", "ship"))
    added = OverlayGraph(fleet.graph, [owned, ship])
    assert ask("How many ships does the Island Line own?", "Skua; Tern", "count", graph=added).text == "3"
    gull = Fact(Triple(f"{NAME}Line", f"{NAME}owns", f"{NAME}Gull"), ("Island Line", "Gull"))
    struck = OverlayGraph(fleet.graph, (), [gull])
    assert ask("What does the Island Line have?", "owns", "lookup", graph=struck).text == "East Pier, Tern"


def test_an_endpoint_answers_the_same(ask, fleet, file: Path) -> None:
    questions = [
        ("How many ships does the Island Line own?", "; ship", "count"),
        ("Does Tern take cars?", "takes cars", "exists"),
        ("Is Tern older than Gull?", "built in of", "less"),
        ("Which is the shortest ship?", "length of", "least"),
    ]
    with serve(file, fleet.graph) as url:
        remote = SparqlGraph(url)
        for asked in questions:
            assert ask(*asked, graph=remote).text == ask(*asked).text is not None, asked


def test_what_is_not_computed_stays_as_it_was(fleet) -> None:
    retriever, reads = Retriever(fleet.graph, linker=fleet.linker), Reads("", "count")
    choosing = Draft(Question("Is Gull a ship?", ("yes", "no")))
    assert operate((choosing,), retriever, reads)[0].computed is None
    nothing = replace(fleet.draft(Question("How many xyzzy?")), subgraphs=(Subgraph(),))
    assert operate((nothing,), Retriever(NOTHING, linker=Linker(NOTHING)), reads)[0].computed is None


def test_a_graph_that_does_not_say_all_there_is_is_not_computed_with() -> None:
    common = GraphStore.from_triples([Triple("spider", "HasA", "leg", 2.0), Triple("spider", "HasA", "web")])
    assert not common.is_complete
    drafts = (Draft(Question("How many legs does a spider have?")),)
    assert operate(drafts, Retriever(common, linker=Linker(common)), Reads("leg", "count")) == drafts


def test_what_is_read_is_computed_with_its_facts_and_its_query(ask) -> None:
    answer = ask("Where is the skipper of the Gull from?", "Ada Berg born in Oslo", "lookup")
    assert answer.text == "Oslo" and answer.source is Source.KNOWLEDGE
    (path,) = answer.evidence.paths
    assert [fact.relation.rsplit("/", 1)[1] for fact in answer.evidence.triples(path)] == [
        "captain",
        "bornIn",
    ]
    assert path.forward == (True, True) and answer.evidence.query.startswith("SELECT")


def test_several_ends_are_the_answer_together_with_a_path_each(ask) -> None:
    answer = ask("What does the Island Line have?", "owns", "lookup")
    assert answer.text == "East Pier, Gull, Tern" and len(answer.evidence.paths) == 3
    assert [item.path for item in answer.items] == list(answer.evidence.paths)


def test_where_the_graph_does_not_tell_nothing_is_answered_and_nothing_is_so(ask) -> None:
    assert ask("Who painted the Gull?", "does not tell", "lookup").source is Source.NONE
    assert ask("Was the Gull painted?", "does not tell", "exists").text == "no"


def test_a_passage_that_answers_is_left_alone(ask) -> None:
    assert ask("Who is the captain of the Gull?", "captain", "lookup", Source.PASSAGE).text == "it"


def test_a_passage_that_hardly_answers_gives_way_to_what_is_computed(fleet, file: Path) -> None:
    draft = fleet.draft(Question("Who is the captain of the Gull?"), Source.PASSAGE)
    weak = replace(draft, scores=replace(draft.scores, spans=(replace(draft.scores.spans[0], score=0.01),)))
    for asked, expected in ((draft, "it"), (weak, "Ada Berg")):
        drafts = operate((asked,), Retriever(fleet.graph, linker=fleet.linker), Reads("captain", "lookup"))
        assert decide(drafts, Decision())[0].best.text == expected


def test_an_operand_that_the_operation_does_not_allow_makes_no_unlikely_one_an_answer(ask) -> None:
    assert ask("Where is the Skua moored?", "length of", "lookup").source is Source.NONE


def test_operands_are_read_until_one_is_sure() -> None:
    asked: list[tuple[str, ...]] = []

    class Counts(Reads):
        def choose(self, questions):
            asked.extend(q.choices for q in questions)
            return [(10 * scores, operations) for scores, operations in super().choose(questions)]

    words = [f"way {n}" for n in range(20)]
    for word, rows in (("way 3", 1), ("way 15", 2)):
        asked.clear()
        ((scores, _),) = _read([(Question("which?"), words)], Counts(word, "lookup"))
        assert int(scores.argmax()) == int(word.split()[1]) and len(asked) == rows


def test_of_what_is_taken_away_from_the_reader_nothing_is_computed(fleet) -> None:
    question = Question("Where is the skipper of the Gull from?")
    whole = Retriever(fleet.graph, linker=Linker(fleet.graph))
    reads = Reads("Ada Berg born in Oslo", "lookup")
    for ablation in ("no-facts", "shuffled"):
        less = whole.with_ablation(ABLATIONS[ablation])
        (draft,) = operate((fleet.draft(question),), less, reads)
        told = draft.computed.candidate if draft.computed else None
        assert told is None or told.text != "Oslo"
    (draft,) = operate((fleet.draft(question),), whole, reads)
    assert draft.computed.candidate.text == "Oslo"


def test_an_answer_is_as_sure_as_all_that_comes_to_the_same(ask) -> None:
    # by what they are built in and by how many their owner employs it is not less, by their length it is
    answer = ask("Is Tern older than Gull?", "of Gull; Tern", "less")
    assert answer.text == "no" and answer.candidates[0].score == pytest.approx(2 / 3, abs=0.01)
    alone = ask("Is Tern older than Gull?", "built in of", "less")
    assert alone.text == "no" and alone.candidates[0].score > 0.95


def test_what_does_not_go_together_makes_no_answer_sure(ask) -> None:
    # what is read, values that can be ordered, cannot be looked up; what can be is hardly read
    answer = ask("How long is the Gull?", "length of", "lookup")
    assert answer.confidence < 0.2


def test_no_is_said_with_the_facts_that_say_it_and_without_others(ask) -> None:
    told = ask("Does Tern take cars?", "takes cars", "exists")
    assert told.text == "no" and told.evidence.paths and told.candidates[0].score > 0.9
    untold = ask(
        "Does Tern take cars?", UNTOLD, "exists"
    )  # its length, were it asked whether there is one, is no too
    assert untold.text == "no" and not untold.evidence.paths and untold.candidates[0].score > 0.9
