from kgqa.answering.operations.operands import Facts
from kgqa.answering.operations.telling import MOST_TOLD, UNTOLD, tell
from kgqa.graph.linking.linker import Linker
from kgqa.graph.opening import open_graph
from kgqa.types import Question


def test_operands_are_told_in_words_the_likeliest_first(file, fleet) -> None:
    told = tell(Facts(open_graph(file)), fleet.linker, Question("Who is the captain of the Gull?"))
    assert told.words[0] == "Ada Berg. Gull captain Ada Berg"
    assert told.choices == (*told.words, UNTOLD) and len(set(told.words)) == len(told.words) <= MOST_TOLD


def test_a_set_with_values_is_called_by_them(file, fleet) -> None:
    told = tell(Facts(open_graph(file)), fleet.linker, Question("Which is longer, the Gull or the Tern?"))
    assert "length of Gull; Tern. Gull length 80 m" in told.words


def test_an_end_is_told_with_its_kind(file, fleet) -> None:
    told = tell(Facts(open_graph(file)), fleet.linker, Question("What is Ada Berg the captain of?"))
    assert "Gull. Gull captain Ada Berg; ship" in told.words


def test_what_is_told_is_of_the_kind_that_is_asked_for(file, fleet) -> None:
    facts = Facts(open_graph(file))

    def told(text: str) -> str:
        return "; ".join(tell(facts, fleet.linker, Question(text)).words)

    assert "East Pier" in told("What does the Island Line own?")
    asked = told("Which ship does the Island Line own?")
    assert "Gull; Tern. Island Line owns Gull" in asked and "East Pier." not in asked and "40." not in asked


def test_a_scale_is_called_by_what_its_relation_says_in_english(tmp_path) -> None:
    path = tmp_path / "t.ttl"
    path.write_text(
        "@prefix : <http://x/> . :Gull :length 3 . :Tern :length 4 . "
        ':length <https://kgqa.org/ontology#words> "is long" .'
    )
    told = tell(Facts(open_graph(path)), Linker(open_graph(path)), Question("Which is longer, Gull or Tern?"))
    assert "is long of Gull; Tern. Gull is long 3" in told.words


def test_what_has_nothing_to_do_with_a_thing_that_is_named_is_not_told(file, fleet) -> None:
    facts = Facts(open_graph(file))
    every = "Gull; Tern. Gull is a ship"
    assert every in tell(facts, fleet.linker, Question("Which ships are there?")).words
    asked = tell(facts, fleet.linker, Question("Which ship has Oslo on it?")).words
    assert asked and every not in asked
