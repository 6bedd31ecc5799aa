"""Verbalized facts, as text to pretrain on: "Trowel is used for digging." """

from __future__ import annotations

import random
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from kgqa.data.corpus.shards import JOINT
from kgqa.data.files import read_lines
from kgqa.types import InputError, Triple

WORDS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Templates of each ConceptNet relation; those that say little in words (RelatedTo, FormOf) are left out."""


def read_facts(path: Path) -> Iterator[Triple]:
    """Facts of a `relation, head, tail[, weight]` TSV (`.tsv` or `.tsv.zst`) that can be verbalized."""
    for number, line in enumerate(read_lines(path), 1):
        cells = line.rstrip("\n").split("\t")
        if len(cells) < 3:
            raise InputError(f"{path}, line {number}: expected relation, head, tail separated by tabs")
        try:
            weight = float(cells[3]) if len(cells) > 3 else 1.0
        except ValueError:
            raise InputError(
                f"{path}, line {number}: weight {cells[3]!r} is no number; mend or remove it"
            ) from None
        if cells[0] in WORDS and weight >= 1.0:
            yield Triple(cells[1].replace("_", " "), cells[0], cells[2].replace("_", " "), weight)


def verbalize(triple: Triple, choice: int = 0) -> str:
    """The fact as a sentence, by the `choice`-th template of its relation.

    >>> verbalize(Triple("trowel", "UsedFor", "digging"))
    'Trowel is used for digging.'
    """
    words = WORDS[triple.relation]
    sentence = words[choice % len(words)].format(head=triple.head, tail=triple.tail)
    return sentence[0].upper() + sentence[1:]


def fact_documents(facts: Iterable[Triple], sentences: int = 6) -> Iterator[list[str]]:
    """Short documents of facts that share a concept, with templates and order drawn at random.

    Facts of one concept next to each other let the encoder learn a fact from its neighbours
    (Agarwal et al., 2021, section 3, verbalise entity subgraphs likewise). The words of a concept are separated by
    `JOINT`, so that they can be masked together.
    """
    groups: dict[str, list[Triple]] = defaultdict(list)
    for fact in facts:
        groups[fact.head].append(fact)
    draw = random.Random(0)
    heads = list(groups)
    draw.shuffle(heads)

    def fact_sentences() -> Iterator[str]:
        for concept in heads:
            draw.shuffle(groups[concept])
            for fact in groups[concept]:
                head, tail = (side.replace(" ", JOINT) for side in (fact.head, fact.tail))
                yield verbalize(Triple(head, fact.relation, tail), draw.randrange(12))

    coming = fact_sentences()
    while document := list(islice(coming, sentences)):
        yield document
