"""The one table of numbers that depend on a reader's weights: it stands in the reader's card, and is fitted anew by
`kgqa evaluate --calibrate`. What stands here holds for a reader that has not been fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.types import Candidate, InputError, KnowledgeGraph

RETIRED = ("following", "rereading", "verdicts", "silence", "computing")
"""Parts of stages that are gone; the card of an older reader may have them still."""


class Decision(BaseModel):
    """What was fitted to questions that the reader was not trained on; another name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calibration: Mapping[str, tuple[float, float]] = {}
    """For each sort of answer (a, b): the confidence is sigmoid(a * logit(probability) + b)."""
    none_above: float | None = None
    """Probability of no answer above which an open question has none; None: where it is the likeliest."""
    without_facts: float = Field(0.0, ge=0, le=1)
    """Share of a second reading, of the concepts without their facts, over a graph that does not say all there is."""

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

    def bare(self, graph: KnowledgeGraph) -> float:
        """Share of the reading without facts over a graph: what says all there is is read with its facts alone."""
        return 0.0 if graph.is_complete else self.without_facts

    def confidence(self, candidate: Candidate) -> float:
        """Calibrated probability that a candidate is right."""
        a, b = self.calibration.get(candidate.sort, (1.0, 0.0))
        p = min(max(candidate.score, 1e-6), 1 - 1e-6)
        logit = torch.logit(torch.tensor(p))
        return float(torch.sigmoid(a * logit + b))
