"""The parameters of a reader's card that decide when an answer is computed, and with what confidence
(`AmountCalibration`): `python training/fit_amounts.py READER --run runs/amounts`.

They are fitted on the questions that the run held out. The arithmetic head and the adapter of the run are copied into
the reader's folder.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from itertools import accumulate
from math import exp, log
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from kgqa.evaluation import minimise
from kgqa.models.arithmetic_head import FILE, load_arithmetic_head
from kgqa.models.load import open_reader
from kgqa.models.pretrained import CARD, write_card
from kgqa.models.reader import load_reader
from kgqa.qa.passages.amounts import AmountCalibration
from kgqa.trainer.finetuning.arithmetic import (
    Arithmetic,
    ArithmeticRecipe,
    Outcome,
    arithmetic_questions,
    measured,
    outcomes,
)

FALSE, STRICTEST = 0.01, 0.8
"""Share of the questions of other sets that may be computed all the same, and the highest threshold for it: a single
row among a few hundred does not silence the head."""
MORE = 4
"""Factor of the recipe's numbers of such questions: a fifth is held out, and there are few that are computed."""


def calibration(found: Sequence[Outcome], layer: int) -> AmountCalibration:
    """Platt scaling of the results' probabilities, and the thresholds: what is computed is more likely right than not;
    where the reader has an answer, at most a share `FALSE` of the questions of other sets is computed."""
    made = [o for o in found if o.probability > 0]
    scale, shift = 1.0, 0.0
    if made:
        logits = torch.tensor([logit(o.probability) for o in made])
        gold = torch.tensor([float(o.right) for o in made])
        weights = torch.tensor([1.0, 0.0], requires_grad=True)

        def loss() -> Tensor:
            value = F.binary_cross_entropy_with_logits(weights[0] * logits + weights[1], gold)
            return value + 1e-3 * weights.square().sum()

        minimise(loss, [weights])
        scale, shift = (round(float(w), 3) for w in weights.detach())
    even = 1 / (1 + exp(shift / scale)) if scale > 0 else 1.0
    others = sorted((o.probability for o in found if o.question.is_other), reverse=True)
    threshold = max(even, others[int(FALSE * len(others))] + 1e-3) if others else even
    threshold = min(threshold, max(even, STRICTEST))
    return AmountCalibration(
        layer=layer,
        threshold=round(threshold, 4),
        unanswered=round(min(threshold, most_gained(found)), 4),
        scale=scale,
        shift=shift,
    )


def most_gained(found: Sequence[Outcome]) -> float:
    """The threshold above which most is gained where the reader has no answer: there a wrong result is a loss only if
    nothing has to be computed."""
    ordered = sorted(found, key=lambda o: -o.probability)
    gains = list(accumulate(o.right - (not o.question.steps) for o in ordered))
    return ordered[gains.index(max(gains))].probability if gains else 1.0


def logit(p: float) -> float:
    """Log-odds."""
    p = min(max(p, 1e-6), 1 - 1e-6)
    return log(p / (1 - p))


def main() -> None:
    """Measure, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--run", type=Path, default=Path("runs/amounts"))
    parser.add_argument("--dry-run", action="store_true", help="print what is measured, and write nothing")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    recipe = ArithmeticRecipe.model_validate_json((chosen.run / "recipe.json").read_text(encoding="utf-8"))
    reader = open_reader(chosen.reader, device=None)
    trained = load_arithmetic_head(load_reader(chosen.reader)[0], chosen.run / "export")
    assert trained is not None, f"{chosen.run}: no arithmetic head"
    objective = Arithmetic(*trained, recipe.amounts.layer)
    others = {spec: MORE * most for spec, most in recipe.amounts.others.items()}
    settings = recipe.amounts.model_copy(update={"others": others})
    questions = [each for each in arithmetic_questions(settings, reader) if each.is_held_out]
    found = list(outcomes(objective, questions, reader.collator.pad))
    fitted = calibration(found, recipe.amounts.layer)
    print(json.dumps({**measured(found, fitted.threshold), **fitted.model_dump()}))
    if not chosen.dry_run:
        shutil.copy(chosen.run / "export" / FILE, chosen.reader / FILE)
        card = json.loads((chosen.reader / CARD).read_text(encoding="utf-8"))
        card.pop("checksums", None)
        write_card(chosen.reader, {**card, "amounts": fitted.model_dump()})


if __name__ == "__main__":
    main()
