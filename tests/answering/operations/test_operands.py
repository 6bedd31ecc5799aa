import pytest

from kgqa.answering.operations.operands import Facts, Operand, operands, things_in
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.opening import open_graph
from kgqa.types import Passage, Question


@pytest.fixture
def facts(file) -> Facts:
    return Facts(open_graph(file))


def found(facts: Facts, linker, text: str, passage: str = "") -> list[Operand]:
    question = Question(text, passage=Passage(passage) if passage else None)
    return operands(facts, things_in(facts, linker, question))


def walked(facts: Facts, operand: Operand) -> tuple[list[str], set[str]]:
    relations = [facts.graph.relations[relation].label for relation in operand.relations]
    return relations, {facts.label(thing) for thing in operand.values or operand.ends}


def test_ways_of_one_and_two_relations_lead_from_what_is_named(facts, fleet) -> None:
    ways = [
        walked(facts, way) for way in found(facts, fleet.linker, "Where was the captain of the Gull born?")
    ]
    assert (["captain"], {"Ada Berg"}) in ways and (["captain", "born in"], {"Oslo"}) in ways
    assert (["owns", "owns"], {"Tern", "East Pier"}) in ways


def test_ends_that_are_of_a_kind_or_joined_to_another_thing_are_a_set_of_their_own(facts, fleet) -> None:
    ways = found(facts, fleet.linker, "Which ships does the Island Line own?")
    narrowed = [walked(facts, way) for way in ways if way.only]
    assert (["owns"], {"Gull", "Tern"}) in narrowed


def test_things_of_a_kind_are_compared_by_each_value_that_they_have(facts, fleet) -> None:
    ways = [
        walked(facts, way) for way in found(facts, fleet.linker, "Which ship is the longest?") if way.scale
    ]
    assert (["length"], {"Gull", "Tern"}) in [(names[-1:], things) for names, things in ways]
    assert (["built in"], {"Gull", "Tern"}) in [(names[-1:], things) for names, things in ways]


def test_things_that_are_named_are_compared_in_the_order_they_are_named_in(facts, fleet) -> None:
    ways = found(facts, fleet.linker, "Is the Tern older than the Gull?")
    pair = next(way for way in ways if way.scale and not way.steps and len(way.sources) == 2)
    assert [facts.label(thing) for thing in pair.values] == ["Tern", "Gull"]


def test_two_things_that_share_a_value_are_not_joined_by_it(tmp_path, fleet) -> None:
    (tmp_path / "lit.tsv").write_text(
        "head\trelation\ttail\nHall\tisLit\ttrue\nMill\tisLit\ttrue\nMill\tnear\tPark\n", encoding="utf-8"
    )
    facts = Facts(open_graph(tmp_path / "lit.tsv"))
    (thing,) = facts.graph.find(["Hall"])[0].tolist()
    named = [
        t._replace(entities=(thing,)) for t in things_in(facts, fleet.linker, Question("Is the Gull lit?"))
    ]
    ways = [walked(facts, way) for way in operands(facts, named) if not way.scale]
    assert ways == [(["is lit"], {"true"})]


def test_a_kind_in_the_question_leaves_the_passage_to_name_the_thing(facts, fleet) -> None:
    ways = found(facts, fleet.linker, "Who is the captain of this ship?", "We sailed on the Gull.")
    assert (["captain"], {"Ada Berg"}) in [walked(facts, way) for way in ways]


def test_facts_are_asked_for_again_where_more_of_them_are_wanted(facts) -> None:
    (line,) = facts.graph.find(["Island Line"])[0].tolist()
    facts.fetch([line], 1)
    assert facts.is_cut_off(line) and len(facts.of(line)) == 1
    facts.fetch([line], 100)
    assert not facts.is_cut_off(line) and len(facts.of(line)) == 5


def test_a_graph_on_the_network_is_asked_few_times(facts, fleet, monkeypatch) -> None:
    asked = []
    neighbours = type(facts.graph).neighbours
    monkeypatch.setattr(
        type(facts.graph), "neighbours", lambda *given: (asked.append(1), neighbours(*given))[1]
    )
    assert (
        len(
            found(
                facts, fleet.linker, "Which of the ships of the Island Line is longer, the Gull or the Tern?"
            )
        )
        > 20
    )
    assert len(asked) <= 12


def test_a_name_that_goes_on_otherwise_is_another(tmp_path) -> None:
    path = tmp_path / "buses.tsv"
    path.write_text(
        "head\trelation\ttail\nRoute 7\tends at\tOld Dairy\nRoute 12\tends at\tHobb Moor\nRoute 7\tpasses\tHobb Moor\n"
    )
    graph = open_graph(path)

    def named(text: str) -> list[str]:
        facts = Facts(graph)
        things = things_in(facts, forgiving_linker(graph), Question(text))
        return [facts.label(entity) for thing in things for entity in thing.entities]

    assert named("Where does Route 7 end?") == ["Route 7"]
    assert named("Where does Route 88 end?") == []
    assert set(named("Where does a Route end?")) == {"Route 7", "Route 12"}
