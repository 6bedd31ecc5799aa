"""Links from the everyday graph to WordNet 3.1, where a label is a noun and its kinds tell which.

Run `KGQA_DATA=... python training/bench/wordnet_links.py OUT.ttl`; prints how many. A noun of one sense is linked where
a kind that the graph names (IsA, of any height) is also a kind of the WordNet noun: the words alone do not tell a
*barista* from a namesake. A noun of several is linked where that holds for one of them alone, by a kind that says
something. Deeds are left out, for their labels are verbs, and of the nouns of several senses those of the types whose
WordNet kinds run together. Identifiers are those of Princeton's RDF: <http://wordnet-rdf.princeton.edu/id/OFFSET-POS>.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import zstandard
from conceptnet import data_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from graph_data.build.compile import read_folder
from graph_data.build.turtle import CONCEPTS

OTHER_SENSE = {"headlamp", "locker", "mosaic"}  # of a car, of a soldier, of aerial photos
VAGUE = {
    *("thing", "object", "place", "person", "event", "action"),
    *("state", "activity", "part", "idea", "group", "animal"),
}
RUN_TOGETHER = {"quality", "time", "material", "idea", "state", "event", "number"}
SOURCES = Path(__file__).parents[2] / "graph_data" / "everyday"
HEADER = f"@prefix ev: <{CONCEPTS}> .\n@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n\n"


def rows(name: str) -> list[dict[str, str]]:
    """Rows of a table of the data folder."""
    packed = (data_folder() / "kg" / f"{name}.tsv.zst").read_bytes()
    text = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)).read().decode()
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def above(start: Iterable[str], parents: Mapping[str, set[str]]) -> set[str]:
    """Everything above some nodes."""
    found: set[str] = set()
    ahead = list(start)
    while ahead:
        for parent in parents.get(ahead.pop(), set()) - found:
            found.add(parent)
            ahead.append(parent)
    return found


def main() -> None:
    """Write the links, in the order of the concepts' IRIs."""
    words = {
        row["synset"]: [
            lemma.rsplit("#", 1)[0].replace("_", " ").lower() for lemma in row["lemmas"].split("|")
        ]
        for row in rows("wordnet31_synsets")
        if row["pos"] == "n"
    }
    senses: dict[str, list[str]] = defaultdict(list)
    for synset, lemmas in words.items():
        for lemma in lemmas:
            senses[lemma].append(synset)
    higher: dict[str, set[str]] = defaultdict(set)
    for row in rows("wordnet31_synset_relations"):
        if row["rel"] == "IsA":
            higher[row["head_synset"]].add(row["tail_synset"])
    graph = read_folder(SOURCES)
    kinds: dict[str, set[str]] = defaultdict(set)
    for fact in graph.facts:
        if fact.relation == "IsA":
            kinds[graph.concepts[fact.head].name].add(graph.concepts[fact.tail].name)
    lines = []
    for concept in sorted(graph.concepts, key=lambda concept: concept.slug):
        meant = senses.get(concept.label.lower(), [])
        mine = above([concept.name], kinds) - {"thing", "object"}
        if concept.label in OTHER_SENSE or concept.kind == "action":
            continue
        if len(meant) > 1:
            mine = mine - VAGUE if concept.kind not in RUN_TOGETHER else set()
        elif concept.sense:
            continue
        fitting = [
            s for s in meant if mine & {word for up in above([s], higher) for word in words.get(up, ())}
        ]
        if len(fitting) == 1:
            lines.append(
                f"ev:{concept.slug} skos:closeMatch <http://wordnet-rdf.princeton.edu/id/{fitting[0]}> ."
            )
    Path(sys.argv[1]).write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{sys.argv[1]}: {len(lines)} links")


if __name__ == "__main__":
    main()
