"""The evaluation script of SQuAD 2.0 (Rajpurkar et al., 2018), step by step: the peer of `kgqa.metrics`."""

from __future__ import annotations

import collections
import re
import string


def official(text: str, golds: list[str]) -> tuple[float, float]:
    """Exact match and F1 as SQuAD 2.0's evaluation script has them (Rajpurkar et al., 2018), step by step."""

    def normalised(output: str) -> str:
        bare = "".join(letter for letter in output.lower() if letter not in set(string.punctuation))
        return " ".join(re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", bare).split())

    def overlap(gold: str) -> float:
        ours, theirs = normalised(text).split(), normalised(gold).split()
        if not ours or not theirs:
            return float(ours == theirs)
        same = sum((collections.Counter(theirs) & collections.Counter(ours)).values())
        if not same:
            return 0.0
        precision, recall = same / len(ours), same / len(theirs)
        return 2 * precision * recall / (precision + recall)

    kept = [gold for gold in golds if normalised(gold)] or [""]
    return max(float(normalised(text) == normalised(gold)) for gold in kept), max(map(overlap, kept))


def official_threshold(
    none: dict[int, float], scores: dict[int, float], has: dict[int, bool]
) -> tuple[float, float]:
    """find_best_thresh of SQuAD 2.0's script."""
    current = best = float(sum(not has[q] for q in none))
    threshold = 0.0
    for question in sorted(none, key=lambda q: none[q]):
        current += scores[question] if has[question] else -1
        if current > best:
            best, threshold = current, none[question]
    return threshold, best / len(none)
