"""Facts in words, as text to pretrain on: "Trowel is used for digging." """

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from kgqa.text.corpus.shards import JOINT
from kgqa.types import InputError, Triple

WORDS: dict[str, tuple[str, ...]] = {
    "AtLocation": (
        "You can find {head} in {tail}.",
        "Where is {head}? In {tail}.",
        "{tail} is where {head} is.",
    ),
    "CapableOf": ("{head} can {tail}.", "What can {tail}? {head} can."),
    "Causes": ("{head} causes {tail}.", "What does {head} cause? {tail}.", "{tail} is caused by {head}."),
    "CausesDesire": ("{head} makes you want to {tail}.", "You want to {tail} because of {head}."),
    "CreatedBy": ("{head} is made by {tail}.",),
    "DefinedAs": ("{head} is {tail}.",),
    "Desires": ("{head} wants {tail}.", "What does {head} want? {tail}."),
    "Entails": ("If you {head}, you {tail}.",),
    "HasA": ("{head} has {tail}.", "What has {tail}? {head}."),
    "HasFirstSubevent": ("To {head}, first {tail}.", "The first thing you do when you {head} is {tail}."),
    "HasLastSubevent": ("When you {head}, at the end you {tail}.",),
    "HasPrerequisite": ("To {head}, you need to {tail}.", "Before you {head}, {tail}."),
    "HasProperty": ("{head} is {tail}.", "How is {head}? {tail}."),
    "HasSubevent": ("When you {head}, you {tail}.", "Something that happens when you {head} is {tail}."),
    "IsA": ("{head} is a kind of {tail}.", "{head} is a {tail}.", "One {tail} is {head}."),
    "InstanceOf": ("{head} is a {tail}.",),
    "LocatedNear": ("{head} is near {tail}.",),
    "MadeOf": ("{head} is made of {tail}.", "What is {head} made of? {tail}."),
    "MannerOf": ("To {head} is a way to {tail}.",),
    "MotivatedByGoal": ("You {head} because you want to {tail}.", "Why do you {head}? To {tail}."),
    "NotCapableOf": ("{head} cannot {tail}.",),
    "NotDesires": ("{head} does not want {tail}.",),
    "NotHasProperty": ("{head} is not {tail}.",),
    "PartOf": ("{head} is part of {tail}.", "{tail} has {head}."),
    "ReceivesAction": ("{head} can be {tail}.",),
    "UsedFor": (
        "{head} is used for {tail}.",
        "What do you use for {tail}? {head}.",
        "You can use {head} to {tail}.",
        "For {tail} you need {head}.",
    ),
    "Antonym": ("{head} is the opposite of {tail}.",),
    "Synonym": ("{head} means {tail}.",),
    "SimilarTo": ("{head} is like {tail}.",),
}
"""How each ConceptNet relation is said; those that say little in words (RelatedTo, FormOf) are left out."""


def read_facts(path: Path, least_weight: float = 1.0) -> Iterator[Triple]:
    """Facts of a `relation, head, tail[, weight]` TSV (`.tsv` or `.tsv.zst`) that can be said in words.

    Raises:
        InputError: a line has fewer than three columns, or a weight that is no number.
    """
    from kgqa.text.corpus.shards import read_lines

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
        if cells[0] in WORDS and weight >= least_weight:
            yield Triple(cells[1].replace("_", " "), cells[0], cells[2].replace("_", " "), weight)


def verbalise(triple: Triple, choice: int = 0) -> str:
    """A sentence that says the fact, in the `choice`-th of its relation's wordings.

    >>> verbalise(Triple("trowel", "UsedFor", "digging"))
    'Trowel is used for digging.'
    """
    words = WORDS[triple.relation]
    sentence = words[choice % len(words)].format(head=triple.head, tail=triple.tail)
    return sentence[0].upper() + sentence[1:]


def fact_documents(facts: Iterable[Triple], seed: int = 0, sentences: int = 6) -> Iterator[list[str]]:
    """Short documents of facts that share a concept, in random wordings and order.

    Facts of one concept beside each other let the encoder learn a fact from its neighbours
    (Agarwal et al., 2021, section 3, verbalise entity subgraphs likewise). The words of a concept are parted by
    `JOINT`, so that they can be hidden together.
    """
    groups: dict[str, list[Triple]] = defaultdict(list)
    for fact in facts:
        groups[fact.head].append(fact)
    draw = random.Random(seed)
    heads = list(groups)
    draw.shuffle(heads)
    document: list[str] = []
    for concept in heads:
        group = groups[concept]
        draw.shuffle(group)
        for fact in group:
            head, tail = (side.replace(" ", JOINT) for side in (fact.head, fact.tail))
            document.append(verbalise(Triple(head, fact.relation, tail), draw.randrange(12)))
            if len(document) >= sentences:
                yield document
                document = []
    if document:
        yield document
