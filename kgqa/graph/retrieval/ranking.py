"""Ranking of the concepts that the expansion reached: a log-linear model over graph features, and the answer
types that the words of the question suggest."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.languages import wordings
from kgqa.graph.linking.normalize import lemma, words
from kgqa.graph.relation_types import is_vague
from kgqa.graph.retrieval.expansion import Expansion, best, locate
from kgqa.types import Edges, Ints, KnowledgeGraph, Relation


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


# Question types: which relations a question asks for and at which end of them the answer is, by the question's words.


class _QuestionType(NamedTuple):
    """A row of question_types.toml."""

    asked: re.Pattern[str]
    leads: str
    fills: str


@cache
def _question_types() -> list[_QuestionType]:
    rows = _table("question_types")["kind"]
    return [_QuestionType(re.compile(row["asked"]), row["leads"], row.get("fills", "")) for row in rows]


@cache
def _question_words(language: str) -> list[tuple[re.Pattern[str], str]]:
    bound = "" if language in ("ja", "ko") else r"\b"
    rows = wordings(language).get("question_words", {})
    return [(re.compile(bound + re.escape(asked) + bound), english) for asked, english in rows.items()]


def asked_in_english(question: str, language: str) -> str:
    """The English words that ask as those of a question in another language do.

    >>> asked_in_english("Womit gräbt sie?", "de"), asked_in_english("どこで掘った？", "ja")
    ('with what tool', 'where')
    """
    text = question.lower()
    return " ".join(english for asked, english in _question_words(language) if asked.search(text))


@dataclass(frozen=True, slots=True)
class AskedEnds:
    """Marked ends of relations; column 0 is the head, column 1 the tail.

    `leads`: facts that join a mentioned concept to the answer, with the answer at the marked end. `fills`:
    ends at which answers of the type asked for are found in facts about anything (a place is the tail of "at
    location").
    """

    leads: NDArray[np.bool_]  # (R, 2)
    fills: NDArray[np.bool_]  # (R, 2)


def asked_ends(question: str, relations: Sequence[Relation]) -> AskedEnds:
    """The ends that a question asks for, by the first question type that matches; none are marked without a match."""
    text = question.lower().strip()
    for kind in _question_types():
        if kind.asked.search(text):
            relation_words = [
                set(f"{relation.label} {relation.words}".lower().split()) for relation in relations
            ]
            leads = _ends(kind.leads, relation_words)
            return AskedEnds(leads, leads | _ends(kind.fills, relation_words))
    nothing = np.zeros((len(relations), 2), dtype=bool)
    return AskedEnds(nothing, nothing)


def _ends(words: str, relation_words: Sequence[set[str]]) -> NDArray[np.bool_]:
    """(R, 2) marked ends of the relations that have one of the words: "word>" marks the head, ">word" the tail."""
    at_head = {word.strip(">") for word in words.split() if word.endswith(">")}
    at_tail = {word.strip(">") for word in words.split() if word.startswith(">")}
    rows = [(not at_head.isdisjoint(own), not at_tail.isdisjoint(own)) for own in relation_words]
    return np.array(rows, dtype=bool).reshape(len(relation_words), 2)


def vague_relations(relations: Sequence[Relation]) -> NDArray[np.bool_]:
    """(R,) whether a relation only says that two concepts are related."""
    return np.array([is_vague(relation) for relation in relations], dtype=bool)


_CHANCE = 0.1
"""Smoothing: probability that the answer is of any type, so that none is ruled out."""
_MIN_MET = 1e-3
"""Smoothing of the share of each type among the concepts reached."""


def type_likelihood(question: str, type_names: Sequence[str], types: Ints) -> NDArray[np.float64]:
    """(V,) log of the ratio of the expected probability of each concept's type, given the words of the
    question, to the share of that type among the concepts given.

    `types` (V,) are indices into `type_names`, -1 for unknown types. The result is 0 for unknown types, and
    for all concepts if no word of the question is in the table.
    """
    expected = _expected(question, tuple(type_names))
    if expected is None or not len(types):
        return np.zeros(len(types))
    met = np.bincount(types[types >= 0], minlength=len(type_names)) / len(types) + _MIN_MET
    gain = np.log((1 - _CHANCE) * expected / met + _CHANCE)
    return np.append(gain, 0.0).take(types, mode="wrap")  # -1 wraps around to the 0 at the end


def _expected(question: str, type_names: tuple[str, ...]) -> NDArray[np.float64] | None:
    """(K,) probability of each answer type; None if no word of the question is in the table."""
    every, rows = _weights(type_names)
    asked_words = {lemma(word) for word, _, _ in words(question)}
    known = [rows[word] for word in sorted(asked_words) if word in rows]
    if not known:
        return None
    weight = np.exp(every + np.sum(known, axis=0))
    found: NDArray[np.float64] = weight / weight.sum()
    return found


@cache
def _weights(type_names: tuple[str, ...]) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Weights (K,) over the graph's types: the bias, and those of each word."""
    table = _table("answer_types")

    def row(word_weights: dict[str, float]) -> NDArray[np.float64]:
        return np.array([word_weights.get(name, 0.0) for name in type_names])

    return row(table["any"]), {word: row(word_weights) for word, word_weights in table["words"].items()}


# Relevance of the concepts reached: to a question, and as a bridge to a choice.

NodeScores = NDArray[np.float64]

_GATHERED_FROM = 100_000
"""Number of concepts from which a graph is assumed to be crowdsourced or extracted automatically."""


@cache
def ranker(name: str) -> Mapping[str, float]:
    """Weights for "edited" graphs (curated: the facts of a concept were written together), "typed" or
    "gathered" ones (crowdsourced or extracted)."""
    return dict(_table("ranking")[name])


def weights_for(graph: KnowledgeGraph) -> Mapping[str, float]:
    """The weights for a graph, by its size and whether its concepts have types; an endpoint, for which
    neither is known, counts as edited."""
    if (graph.entity_count or 0) >= _GATHERED_FROM:
        return ranker("gathered")
    return ranker("typed" if len(graph.type_names) else "edited")


def connection_features(
    reached: Expansion, mass: NodeScores, asked: AskedEnds, vague: NDArray[np.bool_]
) -> dict[str, NodeScores]:
    """Features (V,) of how each concept is connected to the linked ones, by name.

    `mass` (S,) is the weight of the linked concepts of question and passage, in the order of `reached.seeds`;
    `vague` (R,) marks uninformative relations. The constants in the logarithms avoid log 0.
    """
    size = len(reached.ids)
    weight, is_seed = np.zeros(size), np.zeros(size)
    weight[reached.seeds] = mass
    is_seed[reached.seeds] = 1.0
    head, relation = reached.edges.head[: reached.first], reached.edges.relation[: reached.first]
    tail = reached.edges.tail[: reached.first]
    near, far = reached.near[:, 0], reached.far[:, 0]

    def arriving(sent: NodeScores, factor: NDArray[Any]) -> NodeScores:
        out: NodeScores = np.bincount(tail, weights=sent[head] * factor, minlength=size).astype(np.float64)
        return out + np.bincount(head, weights=sent[tail] * factor, minlength=size)

    def led(sent: NodeScores, facts: int | None) -> NodeScores:
        rows = asked.leads[reached.edges.relation[:facts]]
        heads, tails = reached.edges.head[:facts], reached.edges.tail[:facts]
        at_tail, at_head = rows[:, 1], rows[:, 0]
        out: NodeScores = np.bincount(tails[at_tail], sent[heads[at_tail]], minlength=size).astype(np.float64)
        return out + np.bincount(heads[at_head], sent[tails[at_head]], minlength=size)

    return {
        "near": np.log(near + 1e-4),
        "far": np.log(far + 1e-4),
        "firm": np.log(arriving(weight, ~vague[relation]) + 1e-2),
        "as_tail": np.log(np.bincount(tail, weights=weight[head], minlength=size) + 1e-2),
        "reached": (near > 0).astype(np.float64),
        "leads": np.log(led(weight, reached.first) + 1e-2),
        "leads_far": np.log(led(near / np.sqrt(reached.degree), None) + 1e-4),
        "mentions": np.log1p(arriving(is_seed, np.ones(len(head)))),
    }


def filling(edges: Edges, size: int, asked: AskedEnds, weights: Mapping[str, float]) -> NodeScores:
    """(size,) how much the facts of each concept show it to be of the type asked for, such as a place or a tool.

    Ends of `edges` are indices below `size`, or -1 for concepts that do not matter.
    """
    known = edges.relation < len(asked.fills)  # a remote graph may find new relations during retrieval
    rows = asked.fills[np.where(known, edges.relation, 0)] & known[:, None]
    fills, facts = np.zeros(size), np.zeros(size)
    for place, row in ((edges.head, rows[:, 0]), (edges.tail, rows[:, 1])):
        inside = place >= 0
        fills += np.bincount(place[inside & row], minlength=size)
        facts += np.bincount(place[inside], minlength=size)
    found: NodeScores = weights["some"] * (fills > 0) + weights["number"] * np.log1p(fills)
    return found + weights["share"] * fills / np.maximum(facts, 1)


def score_context(
    reached: Expansion,
    mass: NodeScores,
    asked: AskedEnds,
    vague: NDArray[np.bool_],
    weights: Mapping[str, float],
    neighbours: Callable[[Ints], Edges] | None = None,
    count: int = 0,
    likelihood: NodeScores | None = None,
) -> NodeScores:
    """Relevance (V,) of each concept to question and passage, without choices: in (0, 1], and 0 if unreached.

    The expansion sees only a few facts of the concepts at its border; `neighbours` fetches more for the best `count`,
    to determine their types. `likelihood` (V,) is the result of `type_likelihood`. See `connection_features` for the
    rest.
    """
    size = len(reached.ids)
    logit = np.zeros(size) if likelihood is None else weights["kind"] * likelihood
    for name, value in connection_features(reached, mass, asked, vague).items():
        logit += weights[name] * value
    unreached = (reached.near[:, 0] + reached.far[:, 0]) == 0
    if asked.fills.any():
        kind = filling(reached.edges, size, asked, weights)
        if neighbours is not None:
            first = _bounded(logit + kind, unreached)
            ids = reached.ids[np.sort(best(first, count))]
            facts = neighbours(ids)
            places = facts._replace(head=locate(facts.head, ids), tail=locate(facts.tail, ids))
            kind[np.searchsorted(reached.ids, ids)] = filling(places, len(ids), asked, weights)
        logit += kind
    return _bounded(logit, unreached)


def _bounded(logit: NodeScores, unreached: NDArray[np.bool_]) -> NodeScores:
    """Square root of the odds, relative to the best concept (1); the root keeps the others from vanishing."""
    logit = np.where(unreached, -np.inf, logit)
    top = logit.max(initial=-np.inf)
    return np.exp((logit - top) / 2) if np.isfinite(top) else np.zeros(len(logit))


def score_bridges(reached: Expansion, choice: int) -> NodeScores:
    """Relevance of each concept as a bridge between context and choice, 0..1: the mass that reaches it from both sides,
    over paths of up to four facts, with hubs discounted (in the manner of Adamic and Adar, 2003)."""
    context = reached.near[:, 0] + 2 * reached.far[:, 0]
    other = reached.near[:, 1 + choice] + 2 * reached.far[:, 1 + choice]
    score = np.sqrt(context * other)
    top = score.max(initial=0.0)
    return score / top if top > 0 else score
