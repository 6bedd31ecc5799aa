"""How far a bag of words gets on made questions: if it answers them, the wording gives the answers away.

    python training/bench/synthesis_baseline.py [GRAPH] [COUNT]

Naive Bayes over the words of passage and question, trained on the train split, measured on the dev split (no
event in both), for the answer concept and for the source. Printed beside the guess of the commonest answer.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np

from kgqa.data.synthetic.questions import generate_questions
from kgqa.graph.load import open_graph
from kgqa.types import Example, Source


def words(example: Example) -> list[str]:
    """Lower-cased words of a question and its passage."""
    return re.findall(r"[a-z]+", f"{example.question.passage_text} {example.question.text}".lower())


def naive_bayes(train: Sequence[tuple[list[str], str]], tests: Sequence[list[str]]) -> list[list[str]]:
    """The three likeliest labels of each test text, best first (multinomial, add-0.1 smoothing)."""
    vocabulary = {word: i for i, word in enumerate(sorted({w for text, _ in train for w in text}))}
    labels = sorted({label for _, label in train})
    rows = {label: i for i, label in enumerate(labels)}
    counts = np.full((len(labels), len(vocabulary)), 0.1, dtype=np.float32)
    prior = np.zeros(len(labels), dtype=np.float32)
    for text, label in train:
        prior[rows[label]] += 1
        np.add.at(counts[rows[label]], [vocabulary[w] for w in text], 1)
    weights = np.log(counts / counts.sum(axis=1, keepdims=True))
    best = []
    for text in tests:
        score = np.log(prior) + weights[:, [vocabulary[w] for w in text if w in vocabulary]].sum(axis=1)
        best.append([labels[i] for i in np.argsort(-score)[:3]])
    return best


def main(graph_name: str = "graph_data/everyday.ttl", count: str = "20000") -> None:
    """Print the table."""
    graph = open_graph(graph_name)
    train = list(generate_questions(graph, count=int(count), seed=1))
    dev = list(generate_questions(graph, count=3000, seed=1, split="dev"))
    known = [e for e in train if e.source is Source.KNOWLEDGE]
    asked = [e for e in dev if e.source is Source.KNOWLEDGE]
    ranked = naive_bayes([(words(e), e.concepts[0]) for e in known], [words(e) for e in asked])
    common = Counter(e.concepts[0] for e in known).most_common(1)[0][0]
    right = [[bool(set(r[:k]) & set(e.concepts)) for k in (1, 3)] for r, e in zip(ranked, asked, strict=True)]
    hits = np.mean(right, axis=0)
    sources = [[e for e in part if e.source is not Source.CHOICE] for part in (train, dev)]
    answer_type = naive_bayes(
        [(words(e), e.source.value) for e in sources[0]], [words(e) for e in sources[1]]
    )
    chosen = np.mean([r[0] == e.source for r, e in zip(answer_type, sources[1], strict=True)])
    majority = Counter(e.source for e in sources[1]).most_common(1)[0][1] / len(sources[1])
    print(f"{len(train)} train, {len(dev)} dev questions; {len(asked)} dev questions ask for knowledge")
    print(f"answer, commonest       hits@1 {np.mean([common in e.concepts for e in asked]):.3f}")
    print(f"answer, bag of words    hits@1 {hits[0]:.3f}   hits@3 {hits[1]:.3f}")
    print(f"source, commonest       {majority:.3f}")
    print(f"source, bag of words    {chosen:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
