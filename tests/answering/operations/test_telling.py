from kgqa.answering.operations.operands import Facts
from kgqa.answering.operations.telling import MOST_TOLD, UNTOLD, tell
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
