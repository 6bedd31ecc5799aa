"""The head for operations fitted to many made-up questions: `python training/fit_operations.py FOLDER [WORLDS]`.

Trained beside all else the head meets few comparisons, and is slow to tell the least from the most. What the encoder
makes of a question does not change here; the head's one layer is fitted to the questions of so many made-up worlds by
logistic regression, near to what it was. FOLDER is what `kgqa train` exported; weights and card are written anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.models.opening import LoadedReader, open_reader
from kgqa.models.pretrained import write_card
from kgqa.models.reader import OWN, read_card
from kgqa.models.segments import segment_mean
from kgqa.progress import track
from kgqa.text.synthesis.operations import QUESTIONS
from kgqa.trainer.data.operations import operation_questions
from kgqa.types import OPERATIONS, Question, Subgraph

DECAY = 1e-5
"""Of the squared distance from the weights before."""
BATCH = 32
HELD_OUT = 40
"""Worlds that are not fitted to."""


def asked(worlds: int, seed: int) -> tuple[list[Question], Tensor]:
    """Questions of made-up worlds, and the operations (N) that they ask for."""
    found = [e for e in operation_questions(worlds * QUESTIONS, seed) if e.question.passage is None]
    return [e.question for e in found], torch.tensor([OPERATIONS.index(e.operation) for e in found])


def summaries(reader: LoadedReader, questions: list[Question]) -> Tensor:
    """What the head reads of each question (N, H)."""
    order = sorted(range(len(questions)), key=lambda n: len(questions[n].text))
    found: dict[int, Tensor] = {}
    parts = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
    for part in track(parts, "reading"):
        batch = reader.collate([questions[n] for n in part], [[Subgraph()]] * len(part)).batch
        summary = segment_mean(reader.heads(batch).fused.summary, batch.question, batch.num_questions)
        found |= zip(part, summary.float(), strict=True)
    return torch.stack([found[n] for n in range(len(questions))])


def fit(layer: nn.Linear, states: Tensor, operations: Tensor, decay: float = DECAY) -> None:
    """Fit a layer, in place, to tell operations (N) by states (N, H)."""
    before = layer.weight.detach().clone()
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        away = decay * (layer.weight - before).square().sum()
        value = cross_entropy(layer(states), operations) + away
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]


def shares(layer: nn.Linear, states: Tensor, operations: Tensor) -> str:
    """How many are told, all and of each operation."""
    right = (layer(states).argmax(-1) == operations).float()
    own = (f"{name} {right[operations == n].mean():.2f}" for n, name in enumerate(OPERATIONS))
    return f"{right.mean():.3f} ({', '.join(own)})"


def main() -> None:
    """Fit the head of a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", type=int, nargs="?", default=600)
    given = parser.parse_args()
    reader = open_reader(given.folder)
    head = reader.network.operation
    if head is None:
        raise SystemExit(f"{given.folder}: no head for operations; train with reasoner.operations")
    held, held_gold = asked(HELD_OUT, seed=2)
    questions, gold = asked(given.worlds, seed=1)
    states = summaries(reader, held + questions).clone()
    layer = nn.Linear(head.out.in_features, head.out.out_features)
    layer.load_state_dict({name: value.float() for name, value in head.out.state_dict().items()})
    print(f"{len(held)} questions held out, before: {shares(layer, states[: len(held)], held_gold)}")
    fit(layer, states[len(held) :], gold)
    print(f"after {len(questions)}: {shares(layer, states[: len(held)], held_gold)}")
    weights = load_file(given.folder / OWN)
    for name, value in layer.state_dict().items():
        place = f"operation.out.{name}"
        weights[place] = value.detach().to(weights[place].dtype)
    save_file(weights, given.folder / OWN, {"format": "pt"})
    write_card(given.folder, read_card(given.folder))


if __name__ == "__main__":
    main()
