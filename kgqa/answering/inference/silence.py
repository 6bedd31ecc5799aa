"""That a passage does not tell what is asked: weighed anew when a stretch of it has been found.

The gate decides before it knows what would be answered. How far the best span beats "no span" is the usual sign
(Rajpurkar et al., 2018, section 5, a threshold on it; Devlin et al., 2019, section 4.3); the other is where the
question's words stand. A question whose words the passage says, and says elsewhere than around the span, was answered
with something that merely stands in the right form, as those of SQuAD 2.0 are made to be.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from kgqa.answering.decision import Silence
from kgqa.answering.inference.matching import coverage
from kgqa.answering.inference.polarity import sentence_around
from kgqa.models.heads.gate import FIRST_VERDICT, GATED
from kgqa.types import Candidate, Question, Source

_MARGINS = (-20.0, 30.0)


class Found(NamedTuple):
    """What is known of a span that would be the answer, named as its weights are.

    `gate` is the gate's log-odds of none, `margin` that of `SpanHead`; `around` and `anywhere` are the shares of the
    question's content words that the span's sentence says, and the whole passage.
    """

    gate: float
    margin: float
    around: float
    anywhere: float

    def odds(self, weights: Silence) -> float:
        """Log-odds that the passage does not tell."""
        value: float = weights.before + sum(
            getattr(weights, name) * value for name, value in self._asdict().items()
        )
        return value


def found_of(question: Question, span: Candidate, gate: Tensor, margin: float) -> Found:
    """What is known of a question's best span, its gate scores (C,) given."""
    assert span.span is not None
    none = GATED.index(Source.NONE)
    others = [n for n in range(len(gate)) if n != none]
    low, high = _MARGINS
    around = question.passage_text[slice(*sentence_around(question.passage_text, span.span))]
    return Found(
        float(gate[none] - gate[others].logsumexp(0)),
        min(max(margin, low), high),
        coverage(question.text, around),
        coverage(question.text, question.passage_text),
    )


def log_odds_of_none(
    question: Question, span: Candidate, gate: Tensor, margin: float, weights: Silence
) -> float | None:
    """Log-odds that the passage does not tell, where a span is the likeliest answer by the gate (C,); else None."""
    passage, none = GATED.index(Source.PASSAGE), GATED.index(Source.NONE)
    others = [place for place in range(len(gate)) if place != none]
    verdicts = gate[FIRST_VERDICT:].logsumexp(0) if len(gate) > FIRST_VERDICT else gate.min()
    best = max(gate[:FIRST_VERDICT][others[:2]].max(), verdicts)
    return None if gate[passage] < best else found_of(question, span, gate, margin).odds(weights)
