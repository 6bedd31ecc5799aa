"""Fit the weights of `kgqa/graph/retrieval/ranking.toml` anew, and say what they keep beside those that stand there.

Run `KGQA_DATA=... python training/bench/ranking.py [--questions 2700]`: hand-written training questions over the
everyday graph fit `typed`, CommonsenseQA's training questions over ConceptNet fit `gathered`, both together `edited`.
Each question's accepted concepts stand against all others within two facts, by a listwise softmax over what the
ranker is told of each. Of questions that nothing is fitted on, the share is told whose answer is among the first 60,
120 and 200. `--write` puts the weights there, `typed` halfway from `edited` to its fit, as it was found to keep more.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import minimise
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval import ranking, subgraph
from kgqa.graph.retrieval.expansion import locate
from kgqa.graph.retrieval.ranking import connection_features, filling, ranker
from kgqa.settings import expanded
from kgqa.types import Example, KnowledgeGraph, Source

CONCEPTNET = "$KGQA_DATA/kg/conceptnet_en.tsv.zst"
NAMES = tuple(ranker("typed"))
KEPT = 1_500
"""Concepts of a question that are looked at: the first ones by the weights as they are."""
DECAY = 1.0
SHARE = 0.4
"""Of CommonsenseQA in the weights of edited graphs."""
Floats = NDArray[np.float32]


class Case(NamedTuple):
    """What the ranker is told of each concept near one question, (V, F), and which are accepted answers."""

    info: Floats
    right: NDArray[np.bool_]


def collect(graph: KnowledgeGraph, examples: Sequence[Example], count: int) -> list[Case]:
    """Up to `count` questions with an accepted concept within reach, as `retrieve` has them ranked."""
    linker, cases, seen = fuzzy_linker(graph), [], []
    plain = subgraph.score_context
    subgraph.score_context = _listening(plain, seen)  # type: ignore[assignment]
    try:
        for example in examples:
            seen.clear()
            subgraph.retrieve_subgraphs(example.question, graph, linker, max_nodes=120)
            found = np.concatenate([*graph.find(example.golds), np.zeros(0, np.int32)])
            info, ids, scores = _told(*seen[0])
            order = np.argsort(-scores, kind="stable")[:KEPT]
            right = np.isin(ids[order], found)
            if right.any():
                cases.append(Case(info[order], right))
            if len(cases) == count:
                break
    finally:
        subgraph.score_context = plain
    return cases


def _listening(plain: Callable[..., Any], seen: list[Any]) -> Callable[..., Any]:
    def listen(*given: Any, **named: Any) -> Any:
        scores = plain(*given, **named)
        seen.append((given, named, scores))
        return scores

    return listen


def _told(given: tuple[Any, ...], named: Mapping[str, Any], scores: Any) -> tuple[Floats, Any, Any]:
    """Each feature of each concept that was reached, unweighted; the ids, and the scores as they are."""
    reached, mass, asked, vague, _, paths_text, count, likelihood = given
    size = len(reached.ids)
    columns = connection_features(reached, mass, asked, vague)
    for name in ("some", "share", "number"):
        alone = {key: float(key == name) for key in ("some", "share", "number")}
        column = filling(reached.edges, size, asked, alone) if asked.fills.any() else np.zeros(size)
        if paths_text is not None and asked.fills.any():
            ids = reached.ids[np.sort(np.argsort(-scores, kind="stable")[:count])]
            facts = paths_text(ids)
            places = facts._replace(head=locate(facts.head, ids), tail=locate(facts.tail, ids))
            column[np.searchsorted(reached.ids, ids)] = filling(places, len(ids), asked, alone)
        columns[name] = column
    columns["kind"] = np.zeros(size) if likelihood is None else likelihood
    reachable = scores > 0
    info = np.stack([columns[name] for name in NAMES], axis=1)[reachable].astype(np.float32)
    return info, reached.ids[reachable], scores[reachable]


def fit(parts: Sequence[tuple[float, Sequence[Case]]], used: Sequence[str]) -> dict[str, float]:
    """Weights by which accepted concepts are likeliest, each part of the questions with its share."""
    columns = [NAMES.index(name) for name in used]
    weights = torch.zeros(len(used), dtype=torch.float64, requires_grad=True)
    rows = [
        (share / len(cases), torch.tensor(case.info[:, columns]).double(), torch.tensor(case.right))
        for share, cases in parts
        for case in cases
    ]
    count = sum(len(cases) for _, cases in parts)

    def loss() -> torch.Tensor:
        value = DECAY * weights.square().sum() / count
        for share, info, right in rows:
            logits = info @ weights
            value = value + share * (logits.logsumexp(0) - logits[right].logsumexp(0))
        return value

    minimise(loss, [weights])
    return {name: round(float(w), 2) for name, w in zip(used, weights.detach(), strict=True)}


def kept(cases: Sequence[Case], weights: Mapping[str, float]) -> str:
    """Shares of the questions with an accepted concept among the first 60, 120 and 200."""
    row = np.array([weights.get(name, 0.0) for name in NAMES])
    ranks = []
    for case in cases:
        logits = case.info @ row
        ranks.append(int((logits > logits[case.right].max()).sum()))
    return ", ".join(f"{100 * np.mean(np.array(ranks) < n):.1f}" for n in (60, 120, 200))


def halfway(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """The mean of two rankers; what one of them lacks is the other's."""
    return {name: round((first.get(name, second[name]) + second[name]) / 2, 2) for name in second}


def main() -> None:
    """Collect, fit, tell, and with `--write` put it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2_700)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    own = [e for e in load_dataset("training/data/everyday/train/*.jsonl") if e.source is Source.KNOWLEDGE]
    total = given.questions + given.questions // 4
    everyday = collect(open_graph("everyday"), own[:: max(1, len(own) // (2 * total))], total)
    info = collect(open_graph(expanded(CONCEPTNET)), list(load_dataset("csqa-open-train")), total)
    (mine, my_rest), (theirs, their_rest) = (
        (cases[: given.questions], cases[given.questions :]) for cases in (everyday, info)
    )
    edited = fit([(1 - SHARE, mine), (SHARE, theirs)], list(ranker("edited")))
    fits = {
        "edited": (edited, [*my_rest, *their_rest]),
        "typed": (halfway(edited, fit([(1.0, mine)], NAMES)), my_rest),
        "gathered": (fit([(1.0, theirs)], list(ranker("gathered"))), their_rest),
    }
    table = Path(ranking.__file__).with_suffix(".toml")
    for name, (fitted, rest) in fits.items():
        written = ranker(name)
        print(f"{name}: fitted {fitted}\n  as written {dict(written)}")
        print(
            f"  among 60, 120, 200 of {len(rest)}: fitted {kept(rest, fitted)}; as written {kept(rest, written)}"
        )
        if given.write:
            body = "".join(f"{key} = {value}\n" for key, value in fitted.items())
            pattern = rf"(\[{name}\]\n(?:#.*\n)+)(?:\w+ = .*\n)+"
            text = table.read_text(encoding="utf-8")
            table.write_text(re.sub(pattern, rf"\g<1>{body}", text, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
