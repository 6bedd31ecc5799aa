import tomllib

import numpy as np

from kgqa.graph.retrieval.ablation import Wordings, paraphrase, read_paraphrases
from kgqa.settings import RELATIONS
from kgqa.types import Subgraph

WORDS = {"used for": Wordings(("serves to",), ("requires",)), "has subevent": Wordings(("step",), ())}


def test_facts_stay_true_when_they_are_reworded(digging: Subgraph) -> None:
    seen = set()
    for seed in range(20):
        other = paraphrase(digging, WORDS, np.random.default_rng(seed), share=1.0)
        for edge, before in zip(other.edges.tolist(), digging.edges.tolist(), strict=True):
            words = other.relations[edge[1]].words
            seen.add(words)
            assert edge == (before[::-1] if words == "requires" else before)
    assert seen == {"serves to", "requires", "step"}


def test_a_share_of_nothing_changes_nothing(digging: Subgraph) -> None:
    other = paraphrase(digging, WORDS, np.random.default_rng(0), share=0.0)
    assert other.relations == digging.relations and (other.edges == digging.edges).all()


def test_every_relation_of_the_shipped_graph_has_wordings() -> None:
    known = tomllib.loads(RELATIONS.read_text(encoding="utf-8"))
    assert len(read_paraphrases()) >= len([v for v in known.values() if isinstance(v, dict)])
