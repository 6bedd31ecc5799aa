import pyoxigraph

from kgqa.answering.operations.query import (
    ask_query,
    count_query,
    extreme_query,
    joined_query,
    value_query,
    written,
)

FACTS = """
@prefix : <http://x/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ann :wrote :b1, :b2, :b3 ; :pages "12 kg" . :b1 a :Novel . :b2 a :Crime . :Crime :kindOf :Novel . :b3 a :Poem .
:b1 :pages 120 . :b2 :pages 90 . :b1 :weight "2.5 kg" . :b2 :weight "0.7 kg" . :b1 :offer [ :price 3 ] .
"""
X = "http://x/"


def run(query: str):
    store = pyoxigraph.Store()
    store.load(FACTS, format=pyoxigraph.RdfFormat.TURTLE)
    found = store.query(query)
    return bool(found) if query.startswith("ASK") else [row[0].value for row in found]


def test_count() -> None:
    assert run(count_query(f"{X}ann", f"{X}wrote", True)) == ["3"]
    assert run(count_query(f"{X}b1", f"{X}wrote", False)) == ["1"]
    kinds = ["http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"{X}kindOf"]
    assert run(count_query(f"{X}ann", f"{X}wrote", True, (f"{X}Novel", kinds))) == ["2"]


def test_exists() -> None:
    assert run(ask_query([(f"{X}ann", f"{X}wrote", f"{X}b1")]))
    assert run(joined_query([f"{X}b1"], [f"{X}ann"])) and not run(joined_query([f"{X}b1"], [f"{X}Poem"]))


def test_largest_and_smallest() -> None:
    books = [f"{X}b1", f"{X}b2"]
    assert run(extreme_query(books, f"{X}pages", True, True)) == [f"{X}b2"]
    assert run(extreme_query(books, f"{X}weight", False, False)) == [f"{X}b1"]


def test_over_a_thing_without_name() -> None:
    assert run(value_query(f"{X}b1", f"{X}offer!{X}price")) == ["3"]


def test_no_name_breaks_out_of_its_brackets() -> None:
    assert written("http://x/a> ?b") == "<urn:kgqa:http%3A//x/a%3E%20%3Fb>"
