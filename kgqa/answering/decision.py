"""The one table of numbers that depend on a reader's weights: it stands in the reader's card, and is fitted anew by
`kgqa evaluate --calibrate`. What stands here holds for a reader that has not been fitted: weights of one, and of a half
where less is to be expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from kgqa.types import Candidate, InputError

RETIRED = ("following", "rereading", "verdicts", "silence")
"""Parts of the table of stages that are gone; the card of an older reader may have them still."""


class Weights(BaseModel):
    """Numbers by name; another name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Computing(Weights):
    """What is weighed where facts are counted, compared and checked (`operations`)."""

    shared: float = 3.0
    """Of the words that question and facts share, beside the reader's log-probability."""
    single: float = 0.4
    """How much less likely a relation is to be counted that leads to one thing only."""
    unnamed: float = 0.05
    """The same of a stored number that the question does not name, where it names what can be counted."""
    indirect: float = 0.3
    """How much less likely a value is to be compared that belongs to something related."""
    unlikely: float = 0.25
    """Share of the likeliest relation's probability below which a fact that joins two things is not what is asked."""
    stated: float = 0.9
    """How sure a yes or no is that facts state."""
    unstated: float = 0.7
    """How sure a no is where nothing is stated."""


class Decision(Weights):
    """What was fitted to questions that the reader was not trained on."""

    calibration: Mapping[str, tuple[float, float]] = {}
    """For each sort of answer (a, b): the confidence is sigmoid(a * logit(probability) + b)."""
    none_above: float | None = None
    """Probability of no answer above which an open question has none; None: where it is the likeliest."""
    computing: Computing = Computing()

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> Decision:
        """What a reader's card says.

        Raises:
            InputError: it says it in another form.
        """
        table = {name: value for name, value in card.get("decision", {}).items() if name not in RETIRED}
        try:
            return cls.model_validate(table)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(
                f"the reader's card: decision {place}: {first['msg']}; copy the checkpoint again, or fit it anew with "
                "`kgqa evaluate --calibrate`"
            ) from None

    def confidence(self, candidate: Candidate) -> float:
        """Calibrated probability that a candidate is right."""
        a, b = self.calibration.get(candidate.sort, (1.0, 0.0))
        p = min(max(candidate.score, 1e-6), 1 - 1e-6)
        logit = torch.logit(torch.tensor(p))
        return float(torch.sigmoid(a * logit + b))
