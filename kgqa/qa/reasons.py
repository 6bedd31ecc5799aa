"""Rank evidence paths by how likely a person would give them as the reason for an answer.

A logistic regression over features of the path, its verbalized facts and, with a fact encoder, its similarity to
question and answer.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.relation_types import RelationType, relation_types
from kgqa.language.overlap import content
from kgqa.qa.evidence import candidate_paths, matches_question
from kgqa.qa.render import sentence
from kgqa.types import Candidate, EvidencePath, NodeRole, Question, Subgraph

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Unit vectors (n, d) of texts."""
Features = dict[str, NDArray[np.floating]]
LEAST = 0.5
"""Minimum probability of being a reason for a path to be shown (open-world graphs)."""


def reasons(
    best: Candidate, question: Question, graph: Subgraph, encode: Encode | None, is_open_world: bool
) -> list[EvidencePath]:
    """Paths to the answer that a person would take as its reason, best first; a path's score is that probability.

    Over a closed-world graph unlikely paths are kept too, since any of its facts may matter.
    """
    paths = candidate_paths(best, graph, question.text)
    if not paths:
        return []
    weights = _weights()["worded" if encode else "plain"]
    found = path_features(paths, best, question, graph, encode)
    logits = weights["bias"] + sum(weight * found[name] for name, weight in weights.items() if name != "bias")
    likely = 1 / (1 + np.exp(-np.asarray(logits)))
    judged = [replace(path, score=float(score)) for path, score in zip(paths, likely, strict=True)]
    kept = [path for path in judged if path.score >= LEAST or not is_open_world]
    return sorted(kept, key=worth, reverse=True)


def worth(path: EvidencePath) -> float:
    """The probability that a path is a reason, less a penalty for each fact beyond the first: of two paths of equal
    probability the shorter is preferred."""
    return path.score - _weights()["paths"]["longer"] * (len(path.steps) - 1)


def path_features(
    paths: Sequence[EvidencePath],
    best: Candidate,
    question: Question,
    graph: Subgraph,
    encode: Encode | None = None,
) -> Features:
    """Features (P,) of the paths to an answer: of their facts and, with an encoder, of their similarity to
    the question and the answer."""
    facts = [[sentence(graph, step) for step in path.steps] for path in paths]
    texts = ["; ".join(told) for told in facts]
    asked = f"{question.passage_text} {question.text}".strip()
    said, own = content(asked), content(best.text)
    first, last = ([path.steps[side] for path in paths] for side in (0, -1))
    mentioned = np.isin(graph.roles, (int(NodeRole.QUESTION), int(NodeRole.PASSAGE)))
    single = np.array([len(path.steps) == 1 for path in paths], dtype=float)
    types = [relation_types(relation) for relation in graph.relations]

    def of_type(edges: Sequence[int], relation_type: RelationType) -> NDArray[np.floating]:
        return np.array([relation_type in types[graph.edges[edge, 1]] for edge in edges], dtype=float)

    found = {
        "single": single,
        "direct": single * mentioned[graph.edges[last][:, ::2]].any(1),
        "asked": matches_question(best, graph, question.text)[last].astype(float),
        "first_kind": (1 - single) * of_type(first, RelationType.IS_A),
        "last_kind": of_type(last, RelationType.IS_A),
        "last_agent": of_type(last, RelationType.AGENT),
        # how the first fact's other end is, or makes people feel, is seldom why
        "last_quality": (1 - single)
        * of_type(last, RelationType.QUALITY)
        * (1 - of_type(last, RelationType.TIME)),
        "circular": np.array([_is_circular(path, graph, own) for path in paths], dtype=float),
        "compares": np.array([_compares(path, graph, said) for path in paths], dtype=float),
        "same_relation": (1 - single) * (graph.edges[first, 1] == graph.edges[last, 1]),
        "opposite": np.maximum(*(of_type(side, RelationType.OPPOSITE) for side in (first, last))),
        # a path is as plausible as its weakest fact
        "weight": np.sqrt([graph.weights[list(path.steps)].min() for path in paths]),
        "shared_words": np.array([len((content(text) - own) & said) for text in texts], dtype=float),
        "length": np.array([len(text.split()) for text in texts], dtype=float),
    }
    if encode is None:
        return found
    return found | _nearness(facts, texts, best.text, question.text, asked, encode)


def _is_circular(path: EvidencePath, graph: Subgraph, answer: frozenset[str]) -> bool:
    """Whether the last fact finds the answer in words that name it: to blow a whistle, people use a whistle."""
    head, number, tail = graph.edges[path.steps[-1]].tolist()
    is_kind = RelationType.IS_A in relation_types(graph.relations[number])
    other = content(graph.labels[head if path.forward[-1] else tail])
    return bool(answer) and answer <= other and not is_kind


def _compares(path: EvidencePath, graph: Subgraph, said: frozenset[str]) -> bool:
    """Whether a fact compares two concepts by what is not asked: a morning is brighter than midnight."""
    relations = (graph.relations[number] for number in graph.edges[list(path.steps), 1])
    known = ((relation.words or relation.label).split() for relation in relations)
    return any(words[-1:] == ["than"] and said.isdisjoint(words) for words in known)


def _nearness(
    facts: Sequence[Sequence[str]],
    texts: Sequence[str],
    answer: str,
    question: str,
    asked: str,
    encode: Encode,
) -> Features:
    """Cosine similarities of verbalized paths, and of their last facts, with question, passage and answer."""
    lasts = [told[-1] for told in facts]
    # one batch for the encoder, each text once
    apart = list(
        dict.fromkeys(
            [asked, question, answer, f"{asked} {answer}", *texts, *lasts, *(told[0] for told in facts)]
        )
    )
    vectors = dict(zip(apart, encode(apart), strict=True))
    path, last = (np.array([vectors[text] for text in part]) for part in (texts, lasts))
    firsts = np.array([vectors[told[0]] for told in facts])
    answered = path @ vectors[f"{asked} {answer}"]
    return {
        "near_asked": path @ vectors[asked],
        "near_question": path @ vectors[question],
        "near_answer": path @ vectors[answer],
        "near_answered": answered,
        "behind_nearest": answered - answered.max(),
        "weakest_near": np.minimum(
            firsts @ vectors[f"{asked} {answer}"], last @ vectors[f"{asked} {answer}"]
        ),
        "last_near_asked": last @ vectors[asked],
        "last_near_question": last @ vectors[question],
    }


@lru_cache(maxsize=1)
def _weights() -> dict[str, dict[str, float]]:
    """Weights of the features, `worded` with an encoder and `plain` without, and the penalty of `paths`."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
