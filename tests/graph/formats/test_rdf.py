"""RDF to facts: every syntax says the same; what is no plain fact is handled as stated; hostile files end."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.graph.formats import form_of, read_source
from kgqa.graph.formats import rdf as markup
from kgqa.graph.formats.rdf import check_markup, with_context
from kgqa.graph.formats.source_files import Batch, Tally, batches
from kgqa.graph.linking.label_keys import XSD
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Label, Relation, Triple

PREFIXES = """@prefix ex: <http://x/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix kgqa: <https://kgqa.org/ontology#> .
"""


def read(path: Path, tally: Tally | None = None) -> GraphStore:
    triples, labels = [], []
    for batch in batches(read_source(path, tally or Tally())):
        weights = batch.weights or [float("nan")] * len(batch.heads)
        columns = (batch.heads, batch.relations, batch.tails, weights)
        triples += [Triple(*row) for row in zip(*columns, strict=True)]
        labels += batch.labels
    return GraphStore.from_triples(triples, labels)


def facts(graph: GraphStore) -> dict[tuple[str, str, str], float]:
    edges = graph.edges()
    columns = (graph.names(edges.head), edges.relation, graph.names(edges.tail), edges.weight)
    return {(h, graph.relations[r].name, t): round(float(w), 3) for h, r, t, w in zip(*columns, strict=True)}


def turtle(tmp_path: Path, text: str, tally: Tally | None = None) -> GraphStore:
    (tmp_path / "a.ttl").write_text(PREFIXES + text, encoding="utf-8")
    return read(tmp_path / "a.ttl", tally)


def short(graph: GraphStore) -> set[tuple[str, str, str]]:
    return {tuple(part.split("/")[-1] for part in fact) for fact in facts(graph)}  # type: ignore[misc]


SAME = 'ex:trowel ex:usedFor ex:digging ; rdfs:label "Trowel"@en, "모종삽"@ko .'


@pytest.mark.parametrize("suffix", ["nt", "nq", "ttl", "trig", "rdf", "jsonld", "n3", "nt.gz", "ttl.gz"])
def test_every_syntax(tmp_path: Path, suffix: str) -> None:
    graph = rdflib.Dataset(default_union=True) if suffix in {"nq", "trig"} else rdflib.Graph()
    graph.parse(data=PREFIXES + SAME, format="turtle")
    form = {"nt": "nt11", "nq": "nquads", "rdf": "xml", "jsonld": "json-ld", "ttl": "turtle"}
    bare = suffix.split(".")[0]
    content = graph.serialize(format=form.get(bare, bare), encoding="utf-8")
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    store = read(path)
    assert list(facts(store)) == [("http://x/trowel", "http://x/usedFor", "http://x/digging")]
    assert store.names(store.find(["모종삽"])[0]) == ["http://x/trowel"]


def test_lists_become_members(tmp_path: Path) -> None:
    graph = turtle(tmp_path, "ex:a ex:has ( ex:b ( ex:c ) ) . ex:a ex:none () .")
    assert short(graph) == {("a", "has", "b"), ("a", "has", "c")}


def test_empty_list_in_lines(tmp_path: Path) -> None:
    nil = "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil"
    (tmp_path / "a.nt").write_bytes(LINE + f"<http://x/a> <http://x/r> <{nil}> .\n".encode())
    assert len(facts(read(tmp_path / "a.nt"))) == 1


def test_weights_reified_and_annotated(tmp_path: Path) -> None:
    graph = turtle(
        tmp_path,
        """ex:a ex:r ex:b {| kgqa:weight 0.5 |} . << ex:a ex:r ex:c >> kgqa:weight 3 . ex:a ex:r ex:d .
        [] a rdf:Statement ; rdf:subject ex:a ; rdf:predicate ex:r ; rdf:object ex:d ;
            ex:confidence 0.25 .""",
    )
    assert {name[2][-1]: weight for name, weight in facts(graph).items()} == {"b": 0.5, "c": 3.0, "d": 0.25}


def test_named_graphs_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(PREFIXES + "ex:a ex:r ex:b . ex:g { ex:c ex:r ex:d . }")
    batch = next(iter(batches(read_source(tmp_path / "a.trig", Tally()))))
    assert batch.graphs == ["", "http://x/g"]


def test_literals(tmp_path: Path) -> None:
    tally = Tally()
    text = 'ex:hive ex:colour "white" ; ex:mass 3 ; ex:note "' + "long " * 40 + '" ; ex:in "blanc"@fr .'
    graph = turtle(tmp_path, text, tally)
    mass = f'"3"^^<{XSD}integer>'
    assert {fact[2] for fact in facts(graph)} == {'"white"', '"blanc"@fr', mass}
    assert graph.labels(graph.find(["white"])[0]) == ["white"]
    assert graph.labels(graph.ids([mass])) == ["3"]
    assert sum(tally.skipped.values()) == 1


def test_a_name_in_words_of_its_own_is_a_label_where_there_is_no_better_one(tmp_path: Path) -> None:
    graph = turtle(
        tmp_path, 'ex:p1 ex:name "Ann Ray" ; ex:knows ex:p2 . ex:p2 ex:fullName "B" ; rdfs:label "Bo" .'
    )
    assert short(graph) == {("p1", "knows", "p2")}
    assert graph.labels(graph.ids(["http://x/p1", "http://x/p2"])) == ["Ann Ray", "Bo"]
    assert graph.names(graph.find(["B"])[0]) == ["http://x/p2"]


def test_a_page_without_name_is_called_by_its_address(tmp_path: Path) -> None:
    page, doap = "https://tool.example/start", "http://usefulinc.com/ns/doap#"
    graph = turtle(tmp_path, f"ex:tool <{doap}homepage> <{page}> ; ex:madeIn <http://y/Oslo> .")
    assert graph.labels(graph.ids([page, "http://y/Oslo"])) == [page, "Oslo"] and len(facts(graph)) == 2


def test_types_and_schema(tmp_path: Path) -> None:
    text = "ex:Tool a owl:Class ; rdfs:subClassOf ex:Thing ; rdfs:comment 'x' . ex:spade a ex:Tool ."
    graph = turtle(tmp_path, text + "ex:usedFor a owl:ObjectProperty ; rdfs:domain ex:Tool .")
    assert {(h, t) for h, _, t in short(graph)} == {("Tool", "Thing"), ("spade", "Tool")}
    assert {relation.label for relation in graph.relations} == {"is a"}


def test_words_and_licence(tmp_path: Path) -> None:
    tally = Tally()
    text = 'ex:usedFor kgqa:words "serves for"@en . <> <http://purl.org/dc/terms/license> ex:cc0 .'
    turtle(tmp_path, text, tally)
    assert next(tally.relations()).words == "serves for"
    assert tally.licences == ["http://x/cc0"]


def test_blank_nodes_are_numbered(tmp_path: Path) -> None:
    graph = turtle(tmp_path, 'ex:a ex:r [ ex:s ex:b ] . [] rdfs:label "named" ; ex:s ex:a .')
    assert ("_:b2", "s", "a") in short(graph)
    assert (
        graph.hash == turtle(tmp_path, 'ex:a ex:r [ ex:s ex:b ] . [] rdfs:label "named" ; ex:s ex:a .').hash
    )
    assert len(graph.find(["named"])[0]) == 1


def test_form_by_content(tmp_path: Path) -> None:
    for text, form in (
        ("/a/[x]\t/r/IsA\t", "ConceptNet"),
        ("r\ta\tb\n", "TSV"),
        ("<?xml ?>", "RDF/XML"),
        ("{}", "JSON-LD"),
        ("@prefix x: <y:> .", "Turtle"),
    ):
        (tmp_path / "file").write_text(text)
        assert form_of(tmp_path / "file") == form
    (tmp_path / "file").write_text("dear reader")
    with pytest.raises(InputError, match="expected one of N-Triples"):
        form_of(tmp_path / "file")


LINE = b"<http://x/a> <http://x/r> <http://x/b> .\n"
HOSTILE = {
    "broken.nt": (LINE + b"<http://x/a> oops .\n", r"broken\.nt:2:14"),
    "broken2.nt": (LINE * 60_000 + b"oops\n", r"broken2\.nt:60001:1"),
    "latin1.nt": (LINE + '<http://x/a> <http://x/r> "caf\xe9" .\n'.encode("latin-1"), r"nt:2:\d+: .*UTF-8"),
    "nul.nt": (LINE + b'<http://x/a> <http://x/r> "a\0b" .\n', r"nul\.nt:2: NUL"),
    "open.ttl": (b'<http://x/a> <http://x/r> "open', r"open\.ttl:1:"),
    "remote.jsonld": (b'{"@context": "http://127.0.0.1:9/c", "name": "x"}', "nothing is downloaded"),
    "deep.jsonld": (b"[" * 100_000, r"deep\.jsonld: .* nested"),
    "deep.rdf": (b"<a>" * 5_000, "nested"),
    "deep.ttl": (b"@prefix : <http://x/> . : : " + b"<<(: : " * 60_000 + b":" + b")>>" * 60_000, "nested"),
    "laughs.rdf": (b'<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>', "entity 'b'"),
    "cut.nt.gz": (gzip.compress(LINE * 100)[:-9], "truncated"),
    "cut.ttl.gz": (gzip.compress(LINE * 100)[:-9], "truncated"),
    "empty.rdf": (b"", "no element found"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object, **named: object) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket, "socket", no_network)
    content, output = HOSTILE[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=output) as caught:
        read(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_huge_literal_is_left_out(tmp_path: Path) -> None:
    tally = Tally()
    (tmp_path / "a.nt").write_bytes(LINE + b'<http://x/a> <http://x/r> "' + b"x " * 5_000_000 + b'" .\n')
    assert len(facts(read(tmp_path / "a.nt", tally))) == 1
    assert sum(tally.skipped.values()) == 1


NODES = st.sampled_from([rdflib.URIRef(f"http://x/{name}") for name in ("a", "b", "é", "c%20d", "e#f")])
VERBS = st.sampled_from([rdflib.URIRef(f"http://x/{name}") for name in ("r", "usedFor", "has#part")])
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(NODES, VERBS, NODES), min_size=1, max_size=12),
    st.lists(st.tuples(NODES, TEXTS), max_size=4),
    st.sampled_from(["nt", "ttl", "rdf", "jsonld"]),
)
def test_store_gives_back_what_rdflib_holds(
    tmp_path_factory: pytest.TempPathFactory, triples: list, labels: list, suffix: str
) -> None:
    graph = rdflib.Graph()
    for triple in triples:
        graph.add(triple)
    expected = {tuple(map(str, row)) for row in graph if row[0] != row[2]}
    for node, text in labels:
        graph.add((node, rdflib.RDFS.label, rdflib.Literal(text)))
    path = tmp_path_factory.mktemp("graph") / f"a.{suffix}"
    form = {"nt": "nt11", "ttl": "turtle", "rdf": "xml", "jsonld": "json-ld"}[suffix]
    path.write_bytes(graph.serialize(format=form, encoding="utf-8"))
    store = read(path)
    assert set(facts(store)) == expected
    for node, text in labels:
        entity = int(store.ids([str(node)])[0])
        if entity >= 0 and text.split():
            assert " ".join(text.split()) in {label.text for label in store.all_labels(entity)}


@pytest.mark.parametrize("suffix", [".nt", ".ttl"])
def test_a_literal_that_the_parser_cannot_hold_is_told_from_a_lack_of_memory(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text('<http://x/a> <http://x/b> "' + "POINT(1 2) " * 1_700_000 + '" .\n')
    with pytest.raises(InputError, match="over 16 MB"):
        read(path)


# Batches gather single statements.


def test_batches_keep_everything_in_order() -> None:
    given = [Triple("a", "r", "b"), Label("a", "A"), Batch(["c"], ["r"], ["d"]), Triple("e", "r", "f", 2.0)]
    found = list(batches(given))
    assert [batch.heads for batch in found] == [["a"], ["c"], ["e"]]
    assert found[0].labels == [Label("a", "A")]
    assert found[2].weights == [2.0]


def test_batches_are_bounded() -> None:
    assert [len(batch) for batch in batches([Triple("a", "r", "b")] * 5, size=2)] == [2, 2, 1]


def test_words_in_language() -> None:
    tally = Tally(words={"r": {"ko": "에 쓰인다", "en": "is used for"}, "s": {"": "has"}})
    assert list(tally.relations("ko")) == [Relation("r", "", "에 쓰인다"), Relation("s", "", "has")]
    assert next(tally.relations("fr")).words == "is used for"


# schema.org's context is known without the network.


SHOP = {"@type": "Bakery", "@id": "http://x/shop", "name": "Mill Lane", "founder": {"@id": "http://x/otto"}}


@pytest.mark.parametrize(
    "address", ["https://schema.org", "http://schema.org/", ["https://schema.org", {"x": "http://x/"}]]
)
def test_schema_org_is_known(tmp_path: Path, address: object) -> None:
    (tmp_path / "a.jsonld").write_text(json.dumps({"@context": address, **SHOP}))
    (batch,) = read_source(tmp_path / "a.jsonld", Tally())
    assert ("http://x/shop", "https://schema.org/founder", "http://x/otto") in zip(
        batch.heads, batch.relations, batch.tails, strict=True
    )
    assert [label.text for label in batch.labels] == ["Mill Lane"]


def test_any_other_context_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(json.dumps({"@context": "http://x/schema.org/context", **SHOP}))
    assert with_context(tmp_path / "a.jsonld") is None
    with pytest.raises(InputError, match="nothing is downloaded"):
        list(read_source(tmp_path / "a.jsonld", Tally()))


def test_what_is_no_json_is_left_to_the_parser(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text('{"@context": "https://schema.org"')
    assert with_context(tmp_path / "a.jsonld") is None


def test_half_a_letter_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(
        json.dumps({"@context": "https://schema.org", **SHOP, "name": "\ud800"})
    )
    with pytest.raises(InputError, match="a.jsonld"):
        list(read_source(tmp_path / "a.jsonld", Tally()))


# XML built to exhaust its reader is refused before it is read.


LAUGHS = '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>\n<r>&b;</r>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<r>&a;</r>'
LONG = f'<!DOCTYPE r [<!ENTITY a "{"x" * 2000}">]>\n<r>&a;</r>'


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (LAUGHS, r":2:\d+: entity 'b'"),
        (OUTSIDE, "is external"),
        (LONG, "very long"),
        ("<r>" * 2000 + "</r>" * 2000, "nested"),
        ("<r>\n<s></r>", ":2:6: not RDF/XML here: mismatched tag"),
        ("", "no element found"),
        ('<?xml version="1.0" encoding="UTF-7"?><r/>', "multi-byte encodings are not supported"),
    ],
)
def test_refused(tmp_path: Path, text: str, output: str) -> None:
    (tmp_path / "a.rdf").write_text(text)
    with pytest.raises(InputError, match=output) as caught:
        check_markup(tmp_path / "a.rdf")
    assert "\n" not in str(caught.value)


def test_namespaces_as_entities_are_fine(tmp_path: Path) -> None:
    (tmp_path / "a.rdf").write_text(
        '<!DOCTYPE r [<!ENTITY owl "http://www.w3.org/2002/07/owl#">]>\n<r a="&owl;"/>'
    )
    check_markup(tmp_path / "a.rdf")


@pytest.mark.parametrize("unit", ["<a/>", '<a b="" c="" d=""/>'])
def test_an_archive_of_elements_that_multiply_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    monkeypatch.setattr(markup, "FREE_PARTS", 20_000)
    text = f"<r>{unit * 200_000}</r>".encode()
    (tmp_path / "a.rdf.gz").write_bytes(gzip.compress(text))
    with pytest.raises(InputError, match="over 10 elements and attributes per compressed byte; decompress"):
        check_markup(tmp_path / "a.rdf.gz")
    (tmp_path / "a.rdf").write_bytes(text)
    check_markup(tmp_path / "a.rdf")
