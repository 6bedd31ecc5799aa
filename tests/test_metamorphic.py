"""Two readers of one graph answer alike: what a question is taken to be about hangs on no name, order, capital or
prefix, on no fact of other things, nor on whether the graph is a file or an endpoint.

The forms of each question over each graph are told as the reader would be given them: of equal words it makes equal
answers.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.formats import export_store
from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex
from kgqa.qa.logical_forms.language import Class, subforms
from kgqa.qa.logical_forms.mentions import question_mentions as names_of
from kgqa.qa.logical_forms.rank import RankedForm, shortlist
from kgqa.types import KnowledgeGraph, Question, Triple
from training.experiments.graph_suite import load_suite
from training.experiments.sparql_server import serve

GRAPHS = Path(__file__).parent / "graphs"
SUITES = [
    asked for folder in (GRAPHS, GRAPHS / "unseen", GRAPHS / "vocabularies") for asked in load_suite(folder)
]
FILES = sorted({asked.graph for asked in SUITES})
EACH = 3
"""Questions of a graph that are asked here."""
VOCABULARIES = ("w3.org", "schema.org", "purl.org", "xmlns.com", "cidoc-crm.org", "wikidata.org", "kgqa.org")
"""What is defined elsewhere keeps its prefix: it is known by it."""


Change = Callable[[list[str]], list[str]]


def in_another_order(lines: list[str]) -> list[str]:
    return random.Random(7).sample(lines, len(lines))


def in_capitals(lines: list[str]) -> list[str]:
    label = re.compile(r' (rdfs:label|skos:altLabel) ("[^"\\]*")')
    return [label.sub(lambda match: f" {match[1]} {match[2].upper()}", line) for line in lines]


def with_another_prefix(lines: list[str]) -> list[str]:
    def moved(match: re.Match[str]) -> str:
        iri = match[0]
        if any(known in iri for known in VOCABULARIES) or "^^" in iri:
            return iri
        return re.sub(r"^<https?://", "<https://moved.example/", iri)

    return [re.sub(r"(?<!\^\^)<[^<>\s]+>", moved, line) for line in lines]


def with_a_fact_of_other_things(lines: list[str]) -> list[str]:
    other = "<https://elsewhere.example/"
    return [*lines, f"{other}Zyrrhun> {other}vexes> {other}Wobbendale> ."]


CHANGES: dict[str, Change] = {
    "capitals": in_capitals,
    "prefix": with_another_prefix,
    "unrelated": with_a_fact_of_other_things,
    "order": in_another_order,
    "name": list,
}


def all_changes(lines: list[str]) -> list[str]:
    for change in CHANGES.values():
        lines = change(lines)
    return lines


@cache
def written(path: Path) -> tuple[list[str], list[str]]:
    """Prefixes and statements of a graph, a line each."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "a.ttl"
        export_store(open_graph(path), out)  # type: ignore[arg-type]
        lines = [line for line in out.read_text(encoding="utf-8").splitlines() if line]
    return [line for line in lines if line.startswith("@")], [x for x in lines if not x.startswith("@")]


def opened(path: Path, change: Change, target: Path) -> KnowledgeGraph:
    prefixes, lines = written(path)
    target.write_text("\n".join([*prefixes, *change(lines)]) + "\n", encoding="utf-8")
    return open_graph(target)


def question_mentions(path: Path) -> list[Question]:
    rows = [asked.question for asked in SUITES if asked.graph == path]
    return random.Random(3).sample(rows, min(EACH, len(rows)))


def folded(text: str) -> str:
    return text.lower().replace("ı", "i")  # as its capital is


def forms_in_words(graph: KnowledgeGraph, path: Path) -> dict[str, list[str]]:
    """What each question of a graph may ask for."""
    return {q.text: [folded(form.phrase) for form in forms_of(graph, q)] for q in question_mentions(path)}


def forms_of(graph: KnowledgeGraph, question: Question) -> list[RankedForm]:
    facts, index = GraphFacts(graph), GraphIndex(graph)
    asked = names_of(facts, Linker(graph), index, question)
    return shortlist(facts, asked, Enumerator(facts, asked, index.classes).forms(), most=1_000)


def subgraphs_in_words(graph: KnowledgeGraph, path: Path) -> dict[str, tuple[set[str], set[tuple[str, ...]]]]:
    """The concepts that each question links to, and the facts that it is read with."""
    found = {}
    for question in question_mentions(path):
        (subgraph,) = retrieve_subgraphs(question, graph, Linker(graph))
        labels = [folded(label) for label in subgraph.labels]
        facts = {
            (labels[head], folded(subgraph.relations[relation].label), labels[tail])
            for head, relation, tail in subgraph.edges.tolist()
        }
        found[question.text] = {labels[link.node] for link in subgraph.links}, facts
    return found


def taken(graph: KnowledgeGraph, path: Path) -> tuple[object, object]:
    return forms_in_words(graph, path), subgraphs_in_words(graph, path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_question_is_taken_alike(path: Path, tmp_path: Path) -> None:
    """All changes are made at once; only where they matter is each made alone, to tell which it was."""
    unchanged = taken(opened(path, list, tmp_path / "a.ttl"), path)
    if taken(opened(path, all_changes, tmp_path / "mine.ttl"), path) != unchanged:
        alone = {
            name: taken(opened(path, change, tmp_path / "mine.ttl"), path) for name, change in CHANGES.items()
        }
        pytest.fail(
            f"changed by {[name for name, found in alone.items() if found != unchanged] or 'all at once'}"
        )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_struck_fact_is_missed(path: Path, tmp_path: Path) -> None:
    """Without the facts of the things that are named a question is taken otherwise."""
    graph = open_graph(path)
    for question in question_mentions(path):
        reported = forms_of(graph, question)
        rows = [row for form in reported for path in form.result.members.values() for row in path]
        if not rows:
            continue
        names = graph.names(np.array([rows[0].head, rows[0].tail], dtype=np.int32))
        triple = Triple(names[0], graph.relations[rows[0].relation].name, names[1])
        without = OverlayGraph(graph, (), [LabelledFact(triple, ("", ""))])
        assert [f.phrase for f in forms_of(without, question)] != [f.phrase for f in reported]


def named(form: RankedForm) -> bool:
    """Whether a form begins at something that is named whole: an endpoint is not searched for parts of names."""
    return not any(isinstance(part, Class) for part in subforms(form.form))


@pytest.mark.parametrize("path", [p for p in FILES if p.stem != "zoo"][::4], ids=lambda path: path.stem)
def test_through_sparql(path: Path) -> None:
    """Over an endpoint all but comparisons of all things that there are, and what is said of facts (the zoo's)."""
    graph = open_graph(path)
    with serve(path, graph) as url:
        remote = open_graph(url)
        for question in question_mentions(path)[:3]:
            here, there = ({f.phrase for f in forms_of(g, question) if named(f)} for g in (graph, remote))
            assert there <= here
