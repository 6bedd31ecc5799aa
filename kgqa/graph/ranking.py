"""What a concept near the linked ones is worth to a question, and as a bridge to a choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.walking import Walk

Scores = NDArray[np.float64]

SECOND_HOP = 2.0


def score_context(reached: Walk) -> Scores:
    """Worth of each concept to the question and passage alone, 0..1."""
    near, far = reached.near[:, 0], reached.far[:, 0]
    return scaled(near + SECOND_HOP * far + np.sqrt(near * far))


def score_bridges(reached: Walk, choice: int) -> Scores:
    """Worth of each concept as a bridge between context and choice, 0..1: paths of up to four facts, with
    hubs discounted (in the manner of Adamic and Adar, 2003)."""
    context = reached.near[:, 0] + SECOND_HOP * reached.far[:, 0]
    other = reached.near[:, 1 + choice] + SECOND_HOP * reached.far[:, 1 + choice]
    return scaled(np.sqrt(context * other))


def scaled(score: Scores) -> Scores:
    """Scores divided by the highest, so that they are 0..1."""
    top = score.max(initial=0.0)
    return score / top if top > 0 else score
