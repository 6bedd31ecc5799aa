"""A small real text, tokenized, and batches of it: what every objective is tried on."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kgqa.batch import TextBatch
from kgqa.objectives.base import Objective

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
            objective(batch(step)).total.backward()
            optimizer.step()
            optimizer.zero_grad()
        return before, measure()

    return run
