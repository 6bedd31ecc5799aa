import pyoxigraph
import pytest

from kgqa.answering.operations.applying import Outcome, applied
from kgqa.answering.operations.operands import Facts
from kgqa.answering.operations.telling import Told, tell
from kgqa.graph.opening import open_graph
from kgqa.types import Question


@pytest.fixture
def asked(file, fleet):
    """What an operation makes of the first operand of a question that has these relations."""
    facts = Facts(open_graph(file))

    def ask(text: str, operation: str, *relations: str, scaled: bool | None = None) -> Outcome | None:
        wanted = operation not in ("lookup", "count", "exists") if scaled is None else scaled
        told: Told = tell(facts, fleet.linker, Question(text))
        own = [
            operand
            for operand in told.operands
            if tuple(facts.graph.relations[r].label for r in operand.relations) == relations
            and bool(operand.scale) is wanted
            and operand.sources
        ]
        return applied(facts, operation, own[0], told.things, text)

    return ask


@pytest.mark.parametrize(
    ("text", "operation", "relations", "expected"),
    [
        ("What does the Island Line own?", "lookup", ("owns",), ("East Pier", "Gull", "Tern")),
        ("How many things does the Island Line own?", "count", ("owns",), ("3",)),
        ("How many people does the Island Line employ?", "count", ("employs",), ("40",)),
        ("Was the Island Line founded by Ada Berg?", "exists", ("founded by",), ("yes",)),
        ("Is Oslo the captain of the Gull?", "exists", ("captain",), ("no",)),
        ("Does the Gull take cars?", "exists", ("takes cars",), ("yes",)),
        ("Does the Tern take cars?", "exists", ("takes cars",), ("no",)),
        ("Is the ship commanded by Ada Berg?", "exists", ("captain",), ("yes",)),
        ("Is the building commanded by Ada Berg?", "exists", ("captain",), ("no",)),
        ("Which is longer, the Gull or the Tern?", "most", ("length",), ("Gull",)),
        ("Which is older, the Gull or the Tern?", "least", ("built in",), ("Gull",)),
        ("Is the Gull longer than the Tern?", "more", ("length",), ("yes",)),
        ("Is the Gull longer than the Tern?", "less", ("length",), ("no",)),
        ("How much longer is the Gull than the Tern?", "difference", ("length",), ("20 m",)),
        ("How many years older is the Gull than the Tern?", "difference", ("built in",), ("14 years",)),
        ("How long are the Gull and the Tern together?", "sum", ("length",), ("140 m",)),
    ],
)
def test_operations_are_exact(asked, text, operation, relations, expected) -> None:
    assert asked(text, operation, *relations).texts == expected


def test_an_operation_that_an_operand_does_not_allow_makes_nothing_of_it(asked) -> None:
    assert asked("Who is the captain of the Gull?", "most", "captain", scaled=False) is None
    assert asked("Which is longer, the Gull or the Tern?", "lookup", "length", scaled=True) is None


@pytest.mark.parametrize(
    ("text", "operation", "relations", "expected"),
    [
        ("What does the Island Line own?", "lookup", ("owns",), {"Gull", "Tern", "Pier"}),
        ("Where was the captain of the Gull born?", "lookup", ("captain", "born in"), {"Oslo"}),
        ("How many things does the Island Line own?", "count", ("owns",), {"3"}),
        ("How many ships does the Island Line own?", "count", ("owns",), {"2"}),
        ("How many ships are there?", "count", ("is a",), {"2"}),
        ("Which is longer, the Gull or the Tern?", "most", ("built in",), {"Tern"}),
        ("Which is older, the Gull or the Tern?", "least", ("built in",), {"Gull"}),
        ("Was the Island Line founded by Ada Berg?", "exists", ("founded by",), True),
        ("Is the Gull older than the Tern?", "less", ("built in",), True),
        ("Is the Gull older than the Tern?", "more", ("built in",), False),
    ],
)
def test_the_query_says_the_same(asked, file, text, operation, relations, expected) -> None:
    store = pyoxigraph.Store()
    store.load(file.read_bytes(), format=pyoxigraph.RdfFormat.TURTLE)
    result = store.query(asked(text, operation, *relations).query)
    if isinstance(expected, bool):
        assert bool(result) is expected
    else:
        assert {str(row[0].value).rsplit("/", 1)[-1] for row in result} == expected


def test_what_may_be_cut_off_is_not_counted(asked, monkeypatch) -> None:
    monkeypatch.setattr(Facts, "is_cut_off", lambda *_: True)
    assert asked("How many things does the Island Line own?", "count", "owns") is None
