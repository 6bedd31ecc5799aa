from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.sparql_server import serve as served

from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.compute import _read, compute, execute_form, score_forms
from kgqa.qa.decide import DecisionConfig, decide
from kgqa.qa.logical_forms.rank import NO_FORM
from kgqa.qa.render import is_none_of_them
from kgqa.qa.retrieve import Retriever
from kgqa.qa.state import QAState
from kgqa.types import Answer, InputError, KnowledgeGraph, Question, Source, Subgraph, Triple
from training.experiments.sparql_server import serve

NAME = "http://fleet.example/"
NOTHING = GraphStore.from_triples([Triple("a", "b", "c")])
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Reads:
    """Chooses the phrase with some words in it, rather one that is just these."""

    forms = None

    def __init__(self, words: str) -> None:
        self.words = words

    def choose(self, questions):
        return [
            torch.tensor(
                [9.0 * (self.words in choice) + 9.0 * (self.words == choice) for choice in q.choices]
            )
            for q in questions
        ]


@pytest.fixture
def ask(fleet):
    def answer(
        text: str, words: str, source: Source = Source.NONE, graph: KnowledgeGraph = fleet.graph
    ) -> Answer:
        states = (fleet.state(Question(text), source),)
        states = compute(states, Retriever(graph, linker=Linker(graph)), Reads(words))
        return decide(states, DecisionConfig())[0].answer("", "")

    return answer


def test_the_facts_are_the_evidence_and_the_query_says_the_same(ask, file: Path) -> None:
    import pyoxigraph

    answer = ask("How many ships does the Island Line own?", "the number of ships that Island Line owns")
    assert answer.text == "2"
    facts = [fact for path in answer.evidence.paths for fact in answer.evidence.triples(path)]
    assert {f"{NAME}Gull", f"{NAME}Tern"} <= {fact.tail for fact in facts}
    store = pyoxigraph.Store()
    store.load(path=file)
    assert next(iter(store.query(answer.evidence.query)))[0].value == "2"
    older = ask("Which ship is older, Gull or Tern?", "Gull and Tern built earliest")
    assert older.candidates[0].concept == f"{NAME}Gull"
    assert next(iter(store.query(older.evidence.query)))[0].value == f"{NAME}Gull"


def test_an_edit_changes_the_answer(ask, fleet) -> None:
    owned = LabelledFact(Triple(f"{NAME}Line", f"{NAME}owns", "new:Skua"), ("Island Line", "Skua"))
    ship = LabelledFact(Triple("new:Skua", TYPE, f"{NAME}Ship"), ("Skua", "ship"))
    added = OverlayGraph(fleet.graph, [owned, ship])
    words = "the number of ships that Island Line owns"
    assert ask("How many ships does the Island Line own?", words, graph=added).text == "3"
    gull = LabelledFact(Triple(f"{NAME}Line", f"{NAME}owns", f"{NAME}Gull"), ("Island Line", "Gull"))
    removed = OverlayGraph(fleet.graph, (), [gull])
    assert (
        ask("What does the Island Line own?", "what Island Line owns: ", graph=removed).text
        == "East Pier, Tern"
    )


def test_an_endpoint_answers_the_same(ask, fleet, file: Path) -> None:
    questions = [
        ("How many ships does the Island Line own?", "the number of ships that Island Line owns"),
        ("Is Tern older than Gull?", "whether Tern was built earlier than Gull"),
        ("Which is the shortest ship?", "ships with the smallest length"),
    ]
    with serve(file, fleet.graph) as url:
        remote = SparqlGraph(url)
        for asked in questions:
            assert ask(*asked, graph=remote).text == ask(*asked).text is not None, asked


def test_what_is_not_computed_stays_as_it_was(fleet) -> None:
    retriever, reads = Retriever(fleet.graph, linker=fleet.linker), Reads("")
    choosing = QAState(Question("Is Gull a ship?", ("yes", "no")))
    assert compute((choosing,), retriever, reads)[0].computed is None
    nothing = replace(fleet.state(Question("How many xyzzy?")), subgraphs=(Subgraph(),))
    assert compute((nothing,), Retriever(NOTHING, linker=Linker(NOTHING)), reads)[0].computed is None


def test_a_graph_that_does_not_say_all_there_is_is_not_computed_with() -> None:
    common = GraphStore.from_triples([Triple("spider", "HasA", "leg", 2.0), Triple("spider", "HasA", "web")])
    assert not common.closed_world
    states = (QAState(Question("How many legs does a spider have?")),)
    assert compute(states, Retriever(common, linker=Linker(common)), Reads("leg")) == states


def test_what_is_read_is_computed_with_its_facts_and_its_query(ask) -> None:
    answer = ask("Where is the skipper of the Gull from?", "what the captain of Gull is born in")
    assert answer.text == "Oslo" and answer.source is Source.KNOWLEDGE
    (path,) = answer.evidence.paths
    relations = [fact.relation.rsplit("/", 1)[1] for fact in answer.evidence.triples(path)]
    assert relations == ["captain", "bornIn"]
    assert path.forward == (True, True) and answer.evidence.query.startswith("SELECT")
    assert answer.evidence.interpretation is not None
    assert answer.evidence.interpretation.phrase == "what the captain of Gull is born in"


def test_several_ends_are_the_answer_together_with_a_path_each(ask) -> None:
    answer = ask("What does the Island Line own?", "what Island Line owns: East Pier, Gull, Tern")
    assert answer.text == "East Pier, Gull, Tern" and len(answer.evidence.paths) == 3
    assert [item.path for item in answer.items] == list(answer.evidence.paths)


def test_conditions_that_nothing_meets_are_no_answer_and_read_as_none_of_them(ask) -> None:
    answer = ask("Which ships are longer than 90 m?", "ships whose length is more than 90 m")
    assert answer.source is Source.NONE and is_none_of_them(answer)
    assert answer.evidence.interpretation.phrase == "ships whose length is more than 90 m"
    unsaid = ask("Who painted the Gull?", NO_FORM)
    assert unsaid.source is Source.NONE and not is_none_of_them(unsaid)


def test_a_passage_that_answers_is_left_alone(ask) -> None:
    assert ask("Who is the captain of the Gull?", "the captain of Gull", Source.PASSAGE).text == "it"


def test_a_passage_that_hardly_answers_gives_way_to_what_is_computed(fleet) -> None:
    state = fleet.state(Question("Who is the captain of the Gull?"), Source.PASSAGE)
    weak = replace(state, scores=replace(state.scores, spans=(replace(state.scores.spans[0], score=0.01),)))
    for asked, expected in ((state, "it"), (weak, "Ada Berg")):
        states = compute((asked,), Retriever(fleet.graph, linker=fleet.linker), Reads("the captain of Gull"))
        assert decide(states, DecisionConfig())[0].best.text == expected


def test_phrases_are_read_until_one_is_sure() -> None:
    asked: list[tuple[str, ...]] = []

    class Counts(Reads):
        def choose(self, questions):
            asked.extend(q.choices for q in questions)
            return super().choose(questions)

    words = [f"way {n}." for n in range(20)]
    for word, rows in (("way 3.", 1), ("way 15.", 2)):
        asked.clear()
        (scores,) = _read([(Question("which?"), words, {})], Counts(word))
        assert words[int(scores.argmax())] == word and len(asked) == rows


def test_what_a_thing_lacks_is_no_answer(fleet) -> None:
    (scores,) = _read(
        [(Question("When was it sold?"), ["when it was built"], {"when it was sold": 0.0})], Reads("sold")
    )
    assert scores.shape == (2,) and int(scores.argmax()) == 1


def test_what_a_thing_lacks_is_read_although_something_near_seems_sure() -> None:
    forms = ["when it was sold to Ann", *map(str, range(20))]
    (scores,) = _read(
        [(Question("When was it sold?"), forms, {"when it was sold": 0.0})], Reads("when it was sold")
    )
    assert int(scores.argmax()) == len(scores) - 1


def test_of_what_is_taken_away_from_the_reader_nothing_is_computed(fleet) -> None:
    question = Question("Where is the skipper of the Gull from?")
    whole = Retriever(fleet.graph, linker=Linker(fleet.graph))
    reads = Reads("what the captain of Gull is born in: Oslo")
    for ablation in ("no-facts", "shuffled"):
        less = whole.with_ablation(ABLATIONS[ablation])
        (state,) = compute((fleet.state(question),), less, reads)
        reported = state.computed.candidate if state.computed else None
        assert reported is None or reported.text != "Oslo"
    (state,) = compute((fleet.state(question),), whole, reads)
    assert state.computed.candidate.text == "Oslo"


def test_forms_of_one_result_are_as_sure_together(ask) -> None:
    answer = ask(
        "Is Tern older than Gull?", "the length of Tern is"
    )  # by every scale: more than, less than, the same as
    readings = [answer.evidence.interpretation, *answer.evidence.other_interpretations]
    assert sum(r.probability for r in readings if r) == pytest.approx(1.0, abs=0.05)


def test_a_form_by_hand(fleet) -> None:
    assert (execute_form('(COUNT (CLASS "ship"))', fleet.graph).text or "").isdigit()
    with pytest.raises(InputError, match="not a known operator"):
        execute_form("(HOW many)", fleet.graph)


def test_an_endpoint_counts_what_is_too_much_to_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.qa.logical_forms.graph_facts.MAX_FACTS", 5)
    lamps = " ".join(f":l{n} a :Lamp ." for n in range(30))
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    with served(f'@prefix : <http://x/> . :Lamp {label} "lamp" . {lamps} :l1 :stands :Quay .') as server:
        answer = execute_form("(COUNT (CLASS lamp))", SparqlGraph(server.url))
        assert answer.text == "30" and answer.evidence.query in server.queries
        retriever = Retriever(SparqlGraph(server.url))
        ((_, found, _),) = score_forms([Question("How many lamps are there?")], retriever, Reads(""))
        assert "30" in [candidate.result.text for candidate in found]
