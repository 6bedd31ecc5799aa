"""What must change no answer, and what must.

    python training/bench/metamorphic.py [--each 7] [--only GRAPH ...] [--model kgqa-base]

Questions of every graph of tests/graphs are asked over it, and over the same facts in a file of another name, in
another order, under another prefix, with labels in capitals or of another vocabulary, beside facts about something
else, and through SPARQL: answers are counted whose text or source then differs. Last the facts that an answer rests on
are removed, and those are counted that stay.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyoxigraph as ox

import kgqa
from kgqa.graph.formats import export_store
from kgqa.graph.load import open_graph
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.answerer import Answerer
from kgqa.types import Answer, KnowledgeGraph, Source

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from training.experiments.graph_suite import SuiteQuestion, load_suite
from training.experiments.sparql_server import serve

GRAPHS = Path(__file__).resolve().parents[2] / "tests" / "graphs"
FOLDERS = (GRAPHS, GRAPHS / "vocabularies", GRAPHS / "unseen")
NS = "http://www.w3.org/2000/01/rdf-schema#"
LABELS = {
    f"{NS}label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
}
ELSEWHERE = "http://elsewhere.example/things/"
REMOVED = "removed"
Facts = list[ox.Triple]


def in_another_order(facts: Facts) -> Facts:
    return random.Random(5).sample(sorted(facts, key=str), len(facts))


def under_another_prefix(facts: Facts) -> Facts:
    """Where most subjects live is called otherwise."""
    spaces = Counter(re.sub(r"[^/#:]*$", "", fact.subject.value) for fact in facts if is_named(fact.subject))
    ((old, _),) = spaces.most_common(1)
    if "wikidata.org" in old:  # there it is what says which words a number has
        return facts

    def moved(term: ox.Term) -> ox.Term:
        here = is_named(term) and term.value.startswith(old)
        return ox.NamedNode(ELSEWHERE + term.value[len(old) :]) if here else term

    return [ox.Triple(*map(moved, fact)) for fact in facts]


def with_capitals(facts: Facts) -> Facts:
    return [
        ox.Triple(
            fact.subject, fact.predicate, ox.Literal(fact.object.value.upper(), language=fact.object.language)
        )
        if fact.predicate.value in LABELS and isinstance(fact.object, ox.Literal)
        else fact
        for fact in facts
    ]


def labelled_otherwise(facts: Facts) -> Facts:
    """With SKOS in place of RDFS."""
    output = {f"{NS}label": ox.NamedNode("http://www.w3.org/2004/02/skos/core#prefLabel")}
    return [
        ox.Triple(fact.subject, output.get(fact.predicate.value, fact.predicate), fact.object)
        for fact in facts
    ]


def with_others(facts: Facts) -> Facts:
    """Beside things of which no question asks."""
    one, other, label = (ox.NamedNode(name) for name in (ELSEWHERE + "q", ELSEWHERE + "u", f"{NS}label"))
    output = [(one, label, ox.Literal("Zorvan Quillet")), (other, label, ox.Literal("Umbrix Fen"))]
    return [
        *facts,
        *(ox.Triple(*fact) for fact in (*output, (one, ox.NamedNode(ELSEWHERE + "mooredBeside"), other))),
    ]


def is_named(term: ox.Term) -> bool:
    return isinstance(term, ox.NamedNode)


CHANGES: dict[str, Callable[[Facts], Facts]] = {
    "order": in_another_order,
    "prefix": under_another_prefix,
    "capitals": with_capitals,
    "label": labelled_otherwise,
    "unrelated": with_others,
}


def paths_text(path: Path, graph: GraphStore, folder: Path) -> Facts:
    """The facts of a file, of all its graphs; of a table, or with a context on the network, as kgqa exports them."""
    source = path
    if path.suffix in (".tsv", ".jsonld"):
        source = folder / f"{path.stem}-exported.ttl"
        export_store(graph, source)
    form = ox.RdfFormat.from_extension(source.suffix[1:])
    return [quad.triple for quad in ox.parse(path=source, format=form, base_iri=path.as_uri())]


@contextmanager
def changed(path: Path, graph: GraphStore, folder: Path) -> Iterator[dict[str, KnowledgeGraph]]:
    """The graph of a file in all its forms."""
    renamed = folder / f"mine{path.suffix}"
    renamed.write_bytes(path.read_bytes())
    forms: dict[str, KnowledgeGraph] = {"name": open_graph(renamed)}
    facts = paths_text(path, graph, folder)
    for name, change in CHANGES.items():
        written = folder / f"{path.stem}-{name}.nt"
        written.write_text("".join(f"{fact} .\n" for fact in change(facts)))
        forms[name] = open_graph(written)
    with serve(path, graph) as address:
        yield forms | {"SPARQL": open_graph(address)}


def key(answer: Answer) -> tuple[object, ...]:
    """What must stay: a list in any order."""
    listed = tuple(sorted(item.text.casefold() for item in answer.items))
    return (listed or (answer.best or "").casefold(), answer.source)


def without_its_facts(answerer: Answerer, answer: Answer) -> Answer | None:
    """The answer when the facts of its first path are removed; None where it rests on none."""
    evidence = answer.evidence
    if answer.best is None or answer.source is Source.PASSAGE or not evidence.paths:
        return None
    labels = dict(zip(evidence.subgraph.nodes, evidence.subgraph.labels, strict=True))
    removed = [
        LabelledFact(triple, (labels[triple.head], labels[triple.tail]))
        for triple in evidence.triples(evidence.paths[0])
    ]
    return answerer.with_graph(OverlayGraph(answerer.graph, (), removed)).answer(answer.question)


def compare(
    answerer: Answerer, asked: Sequence[SuiteQuestion], info: Counter[str], stayed: Counter[str]
) -> Iterator[str]:
    """Ask some questions of one graph over all its forms; counts both, and tells of each that is not as it must be."""
    path, questions = asked[0].graph, [one.question for one in asked]
    graph = open_graph(path)
    assert isinstance(graph, GraphStore)
    plain = answerer.with_graph(graph)
    before = plain.answer_many(questions)
    with tempfile.TemporaryDirectory() as folder, changed(path, graph, Path(folder)) as forms:
        for name, form in forms.items():
            for first, second in zip(before, answerer.with_graph(form).answer_many(questions), strict=True):
                info[name] += 1
                if key(first) == key(second):
                    stayed[name] += 1
                else:
                    yield f"{path.name}, {name}: {first.question.text} {first.best!r} -> {second.best!r}"
    for answer in before:
        if (without := without_its_facts(plain, answer)) is not None:
            info[REMOVED] += 1
            stayed[REMOVED] += key(answer) == key(without)
            if key(answer) == key(without):
                yield f"{path.name}, {REMOVED}: {answer.question.text} {answer.best!r} stays"


def main() -> None:
    """Print what changed, and the counts as a line of JSON."""
    suites = [asked for folder in FOLDERS for asked in load_suite(folder)]
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--each", type=int, default=7, help="questions of each graph")
    options.add_argument(
        "--only",
        nargs="+",
        choices=sorted({asked.graph.stem for asked in suites}),
        metavar="GRAPH",
        help="names of graph files without suffix; default: all",
    )
    options.add_argument("--model", default="kgqa-base")
    chosen = options.parse_args()
    answerer = kgqa.load(chosen.model)
    info: Counter[str] = Counter()
    stayed: Counter[str] = Counter()
    if chosen.only:
        suites = [asked for asked in suites if asked.graph.stem in chosen.only]
    for path in dict.fromkeys(asked.graph for asked in suites):
        mine = [asked for asked in suites if asked.graph == path]
        some = mine[:: max(1, len(mine) // chosen.each)][: chosen.each]
        for line in compare(answerer, some, info, stayed):
            print(line, flush=True)
    must_stay = {name: [info[name] - stayed[name], info[name]] for name in info if name != REMOVED}
    changes, of = map(sum, zip(*must_stay.values(), strict=True))
    figures = {"changed": changes, "asked": of, "removed_stayed": stayed[REMOVED], "removed": info[REMOVED]}
    print(json.dumps({**figures, **must_stay}))


if __name__ == "__main__":
    main()
