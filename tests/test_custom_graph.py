"""A custom graph is asked about with the shipped reader, with no retraining; text alone cannot answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.ablation import without_edges
from kgqa.qa.answerer import Answerer
from kgqa.settings import MODELS
from kgqa.types import NodeRole, Passage, Question, Source, Subgraph

BEES = Path(__file__).parent.parent / "graph_data" / "examples" / "beekeeping.ttl"
QUESTIONS = [
    ("I wanted to calm the bees.", "What did I use?", "smoker"),
    ("She wanted to open the hive.", "What tool did she use?", "hive tool"),
    ("They had to uncap the comb.", "What did they do it with?", "uncapping fork"),
    ("He had to spin out the honey.", "What did he use?", "honey extractor"),
    ("We tried to brush off the bees.", "What did we use?", "goose wing"),
    ("My uncle wanted to catch a swarm.", "What did he need?", "skep"),
]


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    if not (MODELS / "kgqa-base" / "reader.json").exists():
        pytest.skip("the released reader is not in this checkout")
    return Answerer.load("kgqa-base", str(BEES))


def asked() -> list[Question]:
    return [Question(question, passage=Passage(passage)) for passage, question, _ in QUESTIONS]


def ranks(answers, names: Mapping[str, str] = MappingProxyType({})) -> list[int]:
    found = []
    for answer, (_, _, name) in zip(answers, QUESTIONS, strict=True):
        gold = names.get(name, name)
        texts = [c.text for c in answer.candidates if c.source is Source.KNOWLEDGE]
        found.append(texts.index(gold) + 1 if gold in texts else 99)
    return found


def test_answers_come_from_the_strangers_graph_with_their_path(answerer: Answerer) -> None:
    answers = answerer.answer_many(asked())
    assert sum(rank == 1 for rank in ranks(answers)) >= 4, [a.text for a in answers]
    for answer in answers:
        if answer.source is Source.KNOWLEDGE:
            assert answer.evidence.paths
            assert all(
                t.head.startswith("http://example.org/beekeeping#") for t in answer.evidence.subgraph.triples
            )


INVENTED = dict(
    zip(
        (gold for _, _, gold in QUESTIONS),
        ("borvil", "tasket", "melker", "drunter", "faspen", "gimlor"),
        strict=True,
    )
)


def untold(graphs: list[Subgraph]) -> list[list[Subgraph]]:
    """For each question the concepts of all of them, without a fact and without the ranking that rests on facts."""
    every = {name: label for graph in graphs for name, label in zip(graph.nodes, graph.labels, strict=True)}
    bare = []
    for graph in graphs:
        more = [name for name in sorted(every) if name not in graph.nodes]
        size = len(graph.nodes) + len(more)
        bare.append(
            replace(
                without_edges(graph, range(len(graph.edges))),
                nodes=graph.nodes + tuple(more),
                labels=graph.labels + tuple(every[name] for name in more),
                roles=np.concatenate(
                    [graph.roles, np.full(len(more), int(NodeRole.OTHER), graph.roles.dtype)]
                ),
                scores=np.ones(size, dtype=np.float32),
            )
        )
    return [[graph] for graph in bare]


def test_text_alone_cannot(answerer: Answerer, tmp_path: Path) -> None:
    """With tools of invented names only the facts can tell: the same reader, with them and without."""
    text = BEES.read_text(encoding="utf-8")
    for name, invented in INVENTED.items():
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', f'"{invented}"')
    (tmp_path / "bees.ttl").write_text(text, encoding="utf-8")
    stranger = answerer.with_graph(open_graph(tmp_path / "bees.ttl"))
    questions = asked()
    reported = ranks(stranger.answer_many(questions), INVENTED)
    alone = ranks(
        stranger.read(questions, untold([stranger.retrieve(question)[0] for question in questions])), INVENTED
    )
    assert sum(rank == 1 for rank in reported) >= 4, reported
    assert sum(rank == 1 for rank in alone) <= 2, alone
