"""Deciding: one answer, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from kgqa.answering.draft import Draft, Drafts
from kgqa.answering.ranking import ranked
from kgqa.types import Candidate, InputError, Source


@dataclass(frozen=True, slots=True)
class Decision:
    """What was fitted to questions that the reader was not trained on."""

    calibration: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """For each sort of answer (a, b): the confidence is sigmoid(a * logit(probability) + b)."""
    second_opinion: tuple[float, float] = (0.5, 1.0)
    """Weights of the first and the second reading's log-probabilities of a candidate."""
    none_above: float | None = None
    """Probability of no answer above which an open question has none; None: where it is the likeliest."""

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> Decision:
        """What a reader's card says.

        Raises:
            InputError: it says it in another form.
        """
        try:
            calibration = {k: (float(v[0]), float(v[1])) for k, v in card.get("calibration", {}).items()}
            first, second = (float(weight) for weight in card.get("second_opinion", (0.5, 1.0)))
            none_above = None if card.get("none_above") is None else float(card["none_above"])
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise InputError(
                f"the reader's card: what was fitted is written in another form ({error}); copy the checkpoint again"
            ) from None
        return cls(calibration, (first, second), none_above)

    def confidence(self, candidate: Candidate) -> float:
        """Calibrated probability that a candidate is right."""
        a, b = self.calibration.get(candidate.sort, (1.0, 0.0))
        p = min(max(candidate.score, 1e-6), 1 - 1e-6)
        logit = torch.logit(torch.tensor(p))
        return float(torch.sigmoid(a * logit + b))


def decide(drafts: Drafts, decision: Decision) -> Drafts:
    """The candidates of each question, best first, a computed one before all, with source and confidence."""
    return tuple(_decided(draft, decision) for draft in drafts)


def _decided(draft: Draft, decision: Decision) -> Draft:
    found, computed = ranked(draft), draft.computed
    none = next((candidate for candidate in found if candidate.source is Source.NONE), None)
    if none is not None and decision.none_above is not None:
        rest = [candidate for candidate in found if candidate is not none]
        found = [none, *rest] if none.score > decision.none_above else [*rest, none]
    best, source = found[0], found[0].source
    candidates = [candidate for candidate in found if candidate.source is not Source.NONE]
    if computed is not None and computed.candidate is None:
        source = Source.NONE  # what was asked for cannot be told, and no other answer answers it
    elif computed is not None and computed.candidate is not None:
        best, source = computed.candidate, computed.candidate.source
        candidates = [best, *(candidate for candidate in candidates if candidate.text != best.text)]
        draft = replace(draft, evidence=computed.evidence, items=computed.items)
    return replace(
        draft,
        candidates=tuple(candidates),
        best=best,
        source=source,
        none=none.score if none else 0.0,
        confidence=decision.confidence(best),
    )
