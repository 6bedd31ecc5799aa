"""Processor seconds to enumerate and shortlist logical forms over a made-up graph of some 100,000 facts, no reader:
`python training/bench/form_search.py`. Each question is asked once, after one of warming up."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex
from kgqa.qa.logical_forms.mentions import question_mentions
from kgqa.qa.logical_forms.rank import shortlist
from kgqa.types import Question

SHIPS, COMPANIES, PORTS = 12_400, 380, 120
KINDS = {"ferry": 1_400, "tug": 1_900, "barge": 2_100, "trawler": 7_000}
LABELS = {
    "ownedBy": "owned by", "captain": "captain", "length": "length in metres", "built": "built",
    "homePort": "home port", "speed": "top speed in knots", "revenue": "revenue in euros", "founded": "founded",
    "seat": "seat", "bornIn": "born in", "country": "country",
}  # fmt: skip
QUESTIONS = {
    "one hop": "Who is the captain of Swift 77?",
    "reverse": "Which ships have their home port in Port Nagel 7?",
    "two hops": "Where was the captain of Swift 77 born?",
    "list": "Which ships are owned by Brede Lines 12?",
    "how many": "How many ships are owned by Brede Lines 12?",
    "filter of an owner's": "Which ships owned by Brede Lines 12 are longer than 100 metres?",
    "filter of 1,400": "Which ferries are longer than 190 metres?",
    "filter of 380": "Which companies were founded after 1990?",
    "superlative of an owner's": "What is the longest ship owned by Brede Lines 12?",
    "nested": "Who is the captain of the longest ship of Brede Lines 12?",
    "superlative of 380": "Which company has the highest revenue?",
    "superlative of 1,400": "Which ferry is the fastest?",
    "superlative of 7,000": "Which trawler is the longest?",
    "filter of 7,000": "Which trawlers are longer than 198 metres?",
    "comparison": "Is Swift 77 longer than Swift 78?",
    "which of two": "Which is longer, Swift 77 or Swift 78?",
    "negation": "Which ships of Brede Lines 12 do not have their home port in Port Nagel 7?",
    "negation of 1,400": "Which ferries are not owned by Brede Lines 12?",
    "average": "What is the average length of the ferries?",
    "yes or no": "Is Swift 77 owned by Brede Lines 12?",
}


def facts_of(chance: random.Random) -> Iterator[str]:
    """The graph in Turtle."""
    yield "@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    yield "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    yield from (f':{name} rdfs:label "{label}" .' for name, label in LABELS.items())
    yield from (f':{kind} rdfs:label "{kind}" .' for kind in (*KINDS, "company", "port", "person", "ship"))
    yield from (f":{kind} rdfs:subClassOf :ship ." for kind in KINDS)
    for n in range(PORTS):
        yield f':p{n} a :port ; rdfs:label "Port Nagel {n}" ; :country "Orme" .'
    for n in range(COMPANIES):
        yield f':c{n} a :company ; rdfs:label "Brede Lines {n}" ; :seat :p{chance.randrange(PORTS)} ;'
        yield f'  :founded "{chance.randrange(1850, 2020)}"^^xsd:gYear ; :revenue {chance.randrange(10**5, 10**8)} .'
    kinds = [kind for kind, many in KINDS.items() for _ in range(many)]
    for n, kind in enumerate(kinds):
        yield f':s{n} a :{kind} ; rdfs:label "Swift {n}" ; :ownedBy :c{chance.randrange(COMPANIES)} ;'
        yield f"  :captain :m{n % 5000} ; :length {chance.randrange(200, 2000) / 10} ;"
        yield f"  :homePort :p{chance.randrange(PORTS)} ;"
        yield f'  :speed {chance.randrange(5, 40)} ; :built "{chance.randrange(1900, 2024)}"^^xsd:gYear .'
    for n in range(5000):
        yield f':m{n} a :person ; rdfs:label "Ann Tarn {n}" ; :bornIn :p{chance.randrange(PORTS)} .'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one of the questions, by its kind", choices=QUESTIONS)
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ships.ttl"
        path.write_text("\n".join(facts_of(random.Random(3))), encoding="utf-8")
        graph = open_graph(path)
    linker, index = fuzzy_linker(graph), GraphIndex(graph)
    asked = {"warming up": "Who is the captain of Swift 5?"} | QUESTIONS
    for kind, text in asked.items():
        if only not in (None, kind):
            continue
        started = time.process_time()
        facts = GraphFacts(graph)
        mentions = question_mentions(facts, linker, index, Question(text))
        linked = time.process_time()
        forms = Enumerator(facts, mentions, index.classes).forms()
        grown = time.process_time()
        found = shortlist(facts, mentions, forms)
        done = time.process_time()
        print(
            f"{kind:27}{done - started:6.2f} s: link {linked - started:.2f} grow {grown - linked:.2f}"
            f" rank {done - grown:.2f}; {len(forms)} forms, best: {found[0].phrase[:90] if found else ''}",
            flush=True,
        )


if __name__ == "__main__":
    main()
