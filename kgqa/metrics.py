"""Metrics: exact match, F1, ranking, calibration, comparison of two systems. Without torch."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kgqa.types import Answer, Example, Source

_NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)

Normalise = Callable[[str], str]


def squad_normalise(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, single spaces: SQuAD's official evaluation script.

    >>> squad_normalise("The Eiffel  Tower!")
    'eiffel tower'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, golds: Sequence[str], normalise: Normalise = squad_normalise) -> float:
    """1.0 if the answer equals one of the golds after normalization; without golds, "" is correct."""
    return float(normalise(answer) in {normalise(gold) for gold in golds or ("",)})


def is_correct(example: Example, text: str | None, normalise: Normalise = squad_normalise) -> float:
    """1.0 if the answer `text` is correct: the same choice, a concept after `normalise`, else SQuAD's exact match."""
    if example.choice is not None:
        return float(text == example.question.choices[example.choice])
    known = example.source is Source.KNOWLEDGE
    return exact_match(text or "", example.golds, normalise if known else squad_normalise)


def f1(answer: str, golds: Sequence[str]) -> float:
    """Maximum word-overlap F1 over the golds (SQuAD's); if one side is empty, 1.0 if both are."""
    return max(_f1(squad_normalise(answer).split(), squad_normalise(gold).split()) for gold in golds or ("",))


def _f1(answer: list[str], gold: list[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = (Counter(answer) & Counter(gold)).total()
    return 2 * shared / (len(answer) + len(gold))


def best_threshold(none: ArrayLike, worth: ArrayLike, answerable: ArrayLike) -> tuple[float, float]:
    """The best no-answer threshold on the probability of "none", and the mean metric with it.

    As SQuAD 2.0's evaluation script finds its best threshold (Rajpurkar et al., 2018).

    Args:
        none: (N,) probability that each question has no answer.
        worth: (N,) exact match or F1 of the best answer.
        answerable: (N,) whether the question has an answer; abstaining on one without counts as 1.
    """
    probability, given = _pair(none, worth)
    has_answer = np.asarray(answerable, dtype=bool)
    order = np.argsort(probability, kind="stable")
    gains = np.where(has_answer[order], given[order], -1.0)
    totals = (~has_answer).sum() + np.concatenate([[0.0], np.cumsum(gains)])
    best = int(totals.argmax())
    threshold = float(probability[order[best - 1]]) if best else 0.0
    return threshold, float(totals[best]) / max(len(given), 1)


def rank_of_gold(
    texts: Sequence[str], golds: Sequence[str], normalise: Normalise = squad_normalise
) -> int | None:
    """1-based rank of the first correct text, None if there is none; texts that are equal after normalization count
    once."""
    accepted = {normalise(gold) for gold in golds}
    keys = list(dict.fromkeys(normalise(text) for text in texts))
    return next((rank for rank, key in enumerate(keys, 1) if key in accepted), None)


def score_answers(
    examples: Sequence[Example], answers: Sequence[Answer], normalise: Normalise | None = None
) -> dict[str, float]:
    """All metrics of a run, as fractions (0..1); `answers[i]` answers `examples[i]`.

    Only metrics that apply are included: `choice_accuracy` for questions with choices; `has_answer_*`, `no_answer_*`,
    `source_accuracy` (of the answer-type classifier), `hits@k` and `mrr` for questions without.

    Args:
        normalise: normalization of concepts for exact match and ranking (such as lemmas); by default SQuAD's. Spans are
            compared as in SQuAD's script, choices literally.
    """
    if len(examples) != len(answers):
        raise ValueError(f"{len(examples)} examples but {len(answers)} answers")
    same = normalise or squad_normalise
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for example, answer in zip(examples, answers, strict=True):
        golds, text = example.golds, answer.best or ""
        em, overlap = is_correct(example, answer.best, same), f1(text, golds)
        seen["exact_match"].append(em)
        seen["f1"].append(overlap)
        if example.choice is not None:
            seen["choice_accuracy"].append(em)
            continue
        seen["source_accuracy"].append(float(answer.source == example.source))
        seen[f"source_accuracy_{example.source}"].append(float(answer.source == example.source))
        part = "has_answer" if golds else "no_answer"
        seen[f"{part}_exact_match"].append(em)
        seen[f"{part}_f1"].append(overlap)
        if golds:
            ranked = [candidate.text for candidate in answer.candidates]
            known = example.source is Source.KNOWLEDGE
            rank = rank_of_gold(ranked or [text], golds, same if known else squad_normalise)
            for k in (1, 3, 10):
                found = float(rank is not None and rank <= k)
                seen[f"hits@{k}"].append(found)
                if known:
                    seen[f"knowledge_hits@{k}"].append(found)
            seen["mrr"].append(1 / rank if rank else 0.0)
        if example.source is Source.KNOWLEDGE:
            seen["knowledge_exact_match"].append(em)
        elif example.source is Source.PASSAGE:
            seen["passage_exact_match"].append(em)
            seen["passage_f1"].append(overlap)
    figures = {key: float(np.mean(values)) for key, values in seen.items()}
    confidences = [answer.confidence for answer in answers]
    if answers:
        figures["ece"] = expected_calibration_error(confidences, seen["exact_match"])
        figures["risk_coverage_auc"] = risk_coverage_auc(confidences, seen["exact_match"])
    return {"count": float(len(answers)), **figures}


def pair_accuracy(pairs: Sequence[str], right: Sequence[float]) -> float:
    """Share of contrast pairs with all members correct; `pairs[i]` names the pair of question i, "" for none."""
    grouped: defaultdict[str, list[float]] = defaultdict(list)
    for pair, value in zip(pairs, right, strict=True):
        if pair:
            grouped[pair].append(value)
    whole = [min(values) for values in grouped.values() if len(values) > 1]
    return float(np.mean(whole)) if whole else 0.0


def expected_calibration_error(confidences: ArrayLike, right: ArrayLike, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over equal-width bins (Guo et al., 2017, eq. 3)."""
    confidence, correct = _pair(confidences, right)
    if not len(confidence):
        return 0.0
    # Bins are (low, high]: a confidence of 0 falls into the first.
    index = np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1).astype(int)
    gaps = np.zeros(bins)
    np.add.at(gaps, index, correct - confidence)
    return float(np.abs(gaps).sum() / len(confidence))


def risk_coverage_auc(confidences: ArrayLike, right: ArrayLike) -> float:
    """Mean error of the n most confident answers over all n (El-Yaniv and Wiener, 2010); 0 is best.

    Answers of equal confidence share their mean error, so their order does not matter.
    """
    confidence, correct = _pair(confidences, right)
    if not len(confidence):
        return 0.0
    order = np.argsort(-confidence, kind="stable")
    _, group = np.unique(-confidence[order], return_inverse=True)
    errors = 1 - correct[order]
    errors = (np.bincount(group, errors) / np.bincount(group))[group]
    return float(np.mean(np.cumsum(errors) / np.arange(1, len(errors) + 1)))


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, samples: int = 10_000, seed: int = 0
) -> dict[str, float]:
    """Is `first` better than `second` on the same questions? Paired bootstrap (Koehn, 2004).

    Returns:
        `difference` of the means, its 95 % interval `low`, `high`, and `p`, the share of resamples in which
        `first` is not better.
    """
    a, b = _pair(first, second)
    if not len(a):
        raise ValueError("paired bootstrap of no questions")
    difference = a - b
    rng = np.random.default_rng(seed)
    means = np.array([difference[rng.integers(0, len(a), len(a))].mean() for _ in range(samples)])
    low, high = np.quantile(means, [0.025, 0.975])
    return {
        "difference": float(difference.mean()),
        "low": float(low),
        "high": float(high),
        "p": float((means <= 0).mean()),
    }


def over_seeds(runs: Sequence[dict[str, float]]) -> dict[str, tuple[float, float]]:
    """Mean and sample standard deviation (0 for one run) of each metric that all runs have."""
    keys = [key for key in (runs[0] if runs else {}) if all(key in run for run in runs)]
    values = {key: np.array([run[key] for run in runs]) for key in keys}
    return {k: (float(v.mean()), float(v.std(ddof=1)) if len(v) > 1 else 0.0) for k, v in values.items()}


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two lists of the same length are needed, not shapes {a.shape} and {b.shape}")
    return a, b


def entities(tags: Sequence[str]) -> set[tuple[str, int, int]]:
    """Entities (type, first word, end, half-open) in a sentence's IOB tags, as conlleval reads them.

    An entity begins at B-, or at an I- that does not continue one of the same type.

    >>> sorted(entities(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"]))
    [('LOC', 3, 4), ('LOC', 4, 5), ('PER', 0, 2)]
    """
    found: set[tuple[str, int, int]] = set()
    start, kind = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        if kind and (mark != "I" or name != kind):
            found.add((kind, start, place))
            kind = ""
        if mark in {"B", "I"} and not kind:
            start, kind = place, name
    return found


def entity_f1(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> float:
    """Entity-level F1 over all sentences, as in seqeval (Nakayama, 2018); 0 without entities."""
    ours = {(n, *entity) for n, tags in enumerate(predicted) for entity in entities(tags)}
    theirs = {(n, *entity) for n, tags in enumerate(gold) for entity in entities(tags)}
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 0.0


def matthews(predicted: ArrayLike, gold: ArrayLike) -> float:
    """Matthews correlation of two lists of 0 and 1; 0 if one of them is constant."""
    a, b = np.asarray(predicted, dtype=float), np.asarray(gold, dtype=float)
    if not a.std() or not b.std():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def accepts(concepts: Sequence[str], label: str) -> bool:
    """Whether a node's label is an accepted surface form, ignoring case, articles and regular plurals."""
    return surface_key(label) in {surface_key(concept) for concept in concepts}


def surface_key(text: str) -> str:
    """A surface form without case, articles and regular plural endings.

    >>> surface_key("The garden_Trowels")
    'garden trowel'
    """
    words = [w for w in text.lower().replace("_", " ").split() if w not in {"a", "an", "the"}]
    return " ".join(w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in words)


def is_right(predicted: str | None, answers: Sequence[str]) -> bool:
    """Whether an answer is accepted, ignoring case, articles and the format of numbers.

    >>> is_right("12,000.0", ["12000"]), is_right(None, []), is_right("the Hague", ["Hague"]), is_right("", [])
    (True, True, True, False)
    """
    if predicted is None or not answers:
        return predicted is None and not answers
    return answer_key(predicted) in {answer_key(answer) for answer in answers}


def answer_key(text: str) -> str:
    """Normal form of an answer; equal for answers that count as the same."""
    bare = text.strip()
    if _NUMBER.fullmatch(bare):
        return f"{float(bare.replace(',', '')):.9g}"
    spelt = re.sub(r"(?<=\d)[.,](?=\d)", "_", bare)  # £2.80 is not £280
    return squad_normalise(spelt.replace("_", "point")) or bare
