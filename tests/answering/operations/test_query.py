from pathlib import Path

import pyoxigraph

from kgqa.answering.operations.operands import Operand
from kgqa.answering.operations.query import operand_query, pattern, written
from kgqa.graph.opening import open_graph

FACTS = """
@prefix : <http://x/> .
:b1 :weight "2.5 kg" . :b2 :weight "0.7 kg" . :b3 :weight "11 kg" . :b1 :offer [ :price 3 ] .
"""
X = "http://x/"


def run(query: str) -> list[str]:
    store = pyoxigraph.Store()
    store.load(FACTS, format=pyoxigraph.RdfFormat.TURTLE)
    return [row[0].value for row in store.query(query)]


def test_numbers_in_texts_are_put_in_order_as_numbers(tmp_path: Path) -> None:
    (tmp_path / "books.ttl").write_text(FACTS, encoding="utf-8")
    graph = open_graph(tmp_path / "books.ttl")
    weight = next(n for n, relation in enumerate(graph.relations) if relation.label == "weight")
    books = Operand((), (), dict.fromkeys(graph.ids([f"{X}b{n}" for n in (1, 2, 3)]).tolist(), ()))
    weighed = Operand((), (), books.ends, scale=((weight, True),))
    assert run(operand_query(graph, weighed, "most", plain=False)) == [f"{X}b3"]
    assert run(operand_query(graph, weighed, "least", plain=False)) == [f"{X}b2"]


def test_over_a_thing_without_name() -> None:
    asked = pattern(f"{X}b1", f"{X}offer!{X}price", "?value")
    assert run(f"SELECT ?value WHERE {{ {asked} }}") == ["3"]


def test_no_name_breaks_out_of_its_brackets() -> None:
    assert written("http://x/a> ?b") == "<urn:kgqa:http%3A//x/a%3E%20%3Fb>"
