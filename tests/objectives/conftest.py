"""A small real text, tokenized, and batches of it: what every objective is tried on."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from kgqa.batch import QABatch, TextBatch
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.objectives.base import Objective
from kgqa.types import Example, Link, NodeRole, Passage, Question, Relation, Subgraph

TEXT = """
The farmer digs the field with a spade. The gardener digs the bed with a trowel. The builder digs the pit
with an excavator. The child digs the sand with a spoon. The farmer waters the field with a hose. The
gardener waters the bed with a can. The builder fills the pit with stones. The child fills the bucket
with sand. The cook cuts the bread with a knife. The tailor cuts the cloth with scissors. The farmer cuts
the grass with a scythe. The cook stirs the soup with a spoon. The painter paints the wall with a brush.
The child paints the paper with a finger.
"""
VOCAB = 128


@pytest.fixture(scope="session")
def stream() -> Tensor:
    words = TEXT.lower().replace(".", " .").split()
    table = {word: number + 5 for number, word in enumerate(dict.fromkeys(words))}
    assert len(table) + 5 <= VOCAB
    return torch.tensor([table[word] for word in words])


@pytest.fixture(scope="session")
def draw(stream: Tensor) -> Callable[..., TextBatch]:
    def batch(seed: int, rows: int = 16, length: int = 24) -> TextBatch:
        generator = torch.Generator().manual_seed(seed)
        starts = torch.randint(0, len(stream) - length, (rows,), generator=generator)
        ids = torch.stack([stream[s : s + length] for s in starts.tolist()])
        ids[:, 0], ids[:, -1] = 2, 3
        return TextBatch(ids)

    return batch


@pytest.fixture(scope="session")
def learn(draw: Callable[..., TextBatch]) -> Callable[..., tuple[float, float]]:
    """Train for some steps; loss of a fixed batch with fixed masks before and after."""

    def run(
        objective: Objective,
        steps: int = 40,
        rate: float = 5e-3,
        part: str | None = None,
        batch: Callable[[int], TextBatch] = draw,
    ) -> tuple[float, float]:
        def measure() -> float:
            objective.eval()
            torch.manual_seed(1)
            with torch.no_grad():
                loss = objective(batch(10_000))
            objective.train()
            return float(loss.parts[part] if part else loss.total)

        before = measure()
        optimizer = torch.optim.AdamW([p for p in objective.parameters() if p.requires_grad], rate)
        for step in range(steps):
            torch.manual_seed(step)
            objective.begin_step(step)
            objective(batch(step)).total.backward()
            optimizer.step()
            optimizer.zero_grad()
        return before, measure()

    return run


TOOLS = {
    "trowel": "garden",
    "excavator": "house",
    "smoker": "hive",
    "shovel": "hole",
    "machine": "foundation",
}


@pytest.fixture(scope="session")
def grounded(tokenizer) -> Callable[[int], QABatch]:  # type: ignore[no-untyped-def]
    """Sentences with the tools they name, the places of these, and what each tool is used for."""
    collate = Collator(tokenizer, InputConfig(max_tokens=48))
    relation = Relation("UsedFor", "used for", "is used for")

    def example(draw: torch.Generator) -> tuple[Example, Subgraph]:
        order = [list(TOOLS)[n] for n in torch.randperm(len(TOOLS), generator=draw).tolist()][:4]
        first, second = order[:2]
        text = f"i dug in the {TOOLS[first]} with a {first} and in the {TOOLS[second]} with a {second}"
        nodes = [*order, *(TOOLS[tool] for tool in order)]
        links = [
            Link(NodeRole.PASSAGE, text.index(n), text.index(n) + len(n), i)
            for i, n in enumerate(nodes)
            if n in text
        ]
        graph = Subgraph(
            nodes=tuple(nodes),
            labels=tuple(nodes),
            roles=np.full(len(nodes), int(NodeRole.PASSAGE), dtype=np.int32),
            scores=np.ones(len(nodes), dtype=np.float32),
            edges=np.array([[i, 0, i + 4] for i in range(4)], dtype=np.int32),
            weights=np.ones(4, dtype=np.float32),
            relations=(relation,),
            links=tuple(links),
        )
        return Example(Question("", passage=Passage(text))), graph

    def batch(seed: int) -> QABatch:
        draw = torch.Generator().manual_seed(seed)
        made = [example(draw) for _ in range(8)]
        return collate([e for e, _ in made], [[g] for _, g in made]).batch

    return batch
