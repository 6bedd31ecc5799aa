"""Evaluation on questions with gold answers, calibration, near-duplicates, and the deletion test of explanations."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.graph.linking.normalize import STOP_WORDS, lemma, normalise
from kgqa.language.wording import with_yes_no_words, yes_no_words
from kgqa.metrics import best_threshold, f1, is_correct, pair_accuracy, score_answers, squad_normalise
from kgqa.models.collation.collate import gold_source
from kgqa.models.pretrained import write_card
from kgqa.models.reader import read_card
from kgqa.progress import track
from kgqa.qa.answerer import Answerer
from kgqa.qa.decide import SURE, DecisionConfig
from kgqa.qa.evidence import answer_paths
from kgqa.qa.read import read
from kgqa.qa.state import QAState
from kgqa.types import Answer, Candidate, EvidencePath, Example, InputError, Question, Source, Subgraph
from kgqa.validation import LANGUAGES

# Near-duplicates: training rows that share most content words, and an answer, with an evaluated row.

SHARE = 0.5
"""Minimum share of each row's content words (weighted by inverse document frequency) that the other row has too."""

_AT_ONCE = 256
"""Number of evaluated rows compared at a time, which bounds memory."""
_WORD = re.compile(r"\w\w+")
_lemma = lru_cache(1 << 16)(lemma)


class DuplicatePair(NamedTuple):
    """Indices of two near-duplicate rows, and the share of common words in the row where it is smaller."""

    measured: int
    trained: int
    share: float


def near_duplicates(
    measured: Sequence[Example], trained: Sequence[Example], least: float = SHARE
) -> Iterator[DuplicatePair]:
    """Pairs of rows with a common accepted answer, and at least the share `least` of the words of each in the other.

    Two unanswerable rows count as having a common answer.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise InputError('near-duplicates need scikit-learn; pip install "kgqa[near-duplicates]"') from None

    if not measured or not trained:
        return
    vectorizer = TfidfVectorizer(tokenizer=_content_words, token_pattern=None, binary=True, norm=None)
    asked = [example.question for example in (*measured, *trained)]
    words = vectorizer.fit_transform([f"{one.passage_text} {one.text}" for one in asked]).astype(np.float32)
    weight = np.asarray(words.sum(axis=1)).ravel()
    words.data **= 0.5  # so that a product of two rows is the summed weight of their common words
    others, least_weight = words[len(measured) :].T.tocsr(), least * weight[len(measured) :]
    answers = list(map(_answers, trained))
    for start in range(0, len(measured), _AT_ONCE):
        rows = range(start, min(start + _AT_ONCE, len(measured)))
        common = (words[rows.start : rows.stop] @ others).tocoo()
        near = common.data >= np.maximum(least * weight[start + common.row], least_weight[common.col])
        found = zip(start + common.row[near], common.col[near], common.data[near], strict=True)
        for first, second, shared in sorted(found):
            if _answers(measured[first]) & answers[second]:
                most = max(weight[first], weight[len(measured) + second])
                yield DuplicatePair(int(first), int(second), float(shared / most))


def _content_words(text: str) -> list[str]:
    found = _WORD.findall(text.casefold())
    return [_lemma(word) for word in found if word not in STOP_WORDS]


def _answers(example: Example) -> set[str]:
    if example.yes_no_label is not None:
        return {"yes" if example.yes_no_label else "no"}
    return {squad_normalise(gold) for gold in example.golds} or {""}


# The deletion test of explanations: does the answer depend on its evidence path more than on any other path?

ANSWER_PATHS = 24
"""Maximum number of other paths to the answer that are tested."""
ELSEWHERE_PATHS = 8
"""Number of paths elsewhere in the subgraph that are tested too; more if there are fewer to the answer."""


def control_paths(answer: Answer, path: EvidencePath) -> list[tuple[int, ...]]:
    """Other paths of the same length: first those to the answer, then some elsewhere in the subgraph."""
    graph, size = answer.evidence.subgraph, len(path.steps)
    found = {
        frozenset(other.steps)
        for other in answer_paths(answer.candidates[0], graph, k=4 * ANSWER_PATHS)
        if len(other.steps) == size
    }
    kept = sorted(tuple(sorted(steps)) for steps in found - {frozenset(path.steps)})[:ANSWER_PATHS]
    draw = np.random.default_rng(0)
    for _ in range(4 * ELSEWHERE_PATHS):
        walked = _walk(graph, size, draw)
        if walked and walked not in kept and set(walked) != set(path.steps):
            kept.append(walked)
        if len(kept) >= ANSWER_PATHS + ELSEWHERE_PATHS:
            break
    return kept


def _walk(graph: Subgraph, size: int, draw: np.random.Generator) -> tuple[int, ...]:
    """A random path of `size` facts; empty if it reaches a dead end."""
    steps = [int(draw.integers(len(graph.edges)))]
    seen = {int(graph.edges[steps[0], 0]), int(graph.edges[steps[0], 2])}
    here = int(graph.edges[steps[0], 2])
    while len(steps) < size:
        head, tail = graph.edges[:, 0], graph.edges[:, 2]
        other = np.where(head == here, tail, np.where(tail == here, head, -1))
        ways = np.flatnonzero((other >= 0) & ~np.isin(other, list(seen)))
        if not len(ways):
            return ()
        steps.append(int(draw.choice(ways)))
        here = int(other[steps[-1]])
        seen.add(here)
    return tuple(sorted(steps))


def deletion_test(answerer: Answerer, questions: Sequence[Question]) -> list[float]:
    """For each answer with an evidence path and control paths: 1 if the evidence path matters most, else 0.

    That is, removing its facts changes the answer's log-odds more, up or down, than removing any other path of the same
    length, to the answer or elsewhere in the subgraph (at most 32 are tested).
    """
    passed = []
    for question in questions:
        answer = answerer.answer(question)
        if not answer.evidence.paths or not answer.candidates:
            continue
        shown = answer.evidence.paths[0]
        others = control_paths(answer, shown)
        if not others:
            continue
        own, *rest = answerer.log_odds_drops(answer, [shown.steps, *others])
        passed.append(float(abs(own) > max(abs(drop) for drop in rest)))
    return passed


# Evaluation of a reader on questions with gold answers.

MIN_OF_A_KIND = 5
"""Minimum number of questions of a type for a separate figure."""

SURE_OF_NONE = 0.7
"""Confidence from which the answer that there is none counts as sure; any other from `SURE`."""
NEAR_AND_FAR = ("exact_match", "f1", "hits@1", "knowledge_hits@1")
"""Figures that are reported separately for near-duplicates."""

AnswerMany = Callable[[Sequence[Question]], Sequence[Answer]]
Said = TypeVar("Said")


def answer_all(
    answer_many: Callable[[Sequence[Question]], Sequence[Said]], examples: Sequence[Example], batch: int = 16
) -> list[Said]:
    """Answers to all questions in order, batched by length, with a progress bar."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].question.passage_text))
    found: dict[int, Said] = {}
    for start in track(range(0, len(order), batch), "answering"):
        chunk = order[start : start + batch]
        answers = answer_many([examples[i].question for i in chunk])
        found.update(zip(chunk, answers, strict=True))
    return [found[i] for i in range(len(examples))]


def with_english_yes_no(answer: Answer) -> Answer:
    """An answer with its yes or no in English, as in the data sets."""
    known = {text: english for language in LANGUAGES for english, text in yes_no_words(language).items()}
    return with_yes_no_words(answer, known)


def evaluate(
    answer_many: AnswerMany,
    examples: Sequence[Example],
    whole: AnswerMany | None = None,
    near: Sequence[Example] | None = None,
) -> dict[str, float]:
    """The figures of `metrics.score_answers` with normalized surface forms, and milliseconds per question.

    - `pair_exact_match`: share of contrast pairs, two questions whose ids differ only in their last letter (h0001-a,
      h0001-b), with both correct; `wordings_agree`: share of groups of paraphrases (`Example.same`) with the same
      answer to all.
    - `right_at_90`: share of correct answers among those with a confidence of at least 90 %, `right_at_90_passage` and
      the like among those of one source, and `right_at_70_none` among the questions that are said with at least 70 % to
      have no answer; `told_at_90` and the like are their numbers.
    - `exact_match_passage_why` and the like: each question type with at least `MIN_OF_A_KIND` questions, if there are
      several.
    - `best_exact_match` and `best_f1`, if some open questions are unanswerable: the figures with the best
      `no_answer_threshold`, which is `best_exact_match_threshold` or `best_f1_threshold` (as in SQuAD 2.0's script).
    - `near_duplicates`, with training rows `near`: number of questions with a near-duplicate among them;
      `exact_match_near`, `knowledge_hits@1_near` and the like are the figures of these, with `far` of all others.
    - `whole_exact_match`, if `answer_many` is ablated and `whole` is the same without ablation: its figure; `gain` is
      the difference, and `gain_error` the standard error of the paired difference; `knowledge_gain` and the like are
      those of knowledge questions only.
    """
    close = None if near is None else {pair.measured for pair in near_duplicates(examples, near)}
    started = time.perf_counter()
    answers = [with_english_yes_no(answer) for answer in answer_all(answer_many, examples)]
    elapsed = time.perf_counter() - started
    figures = score_answers(examples, answers, normalise=normalise)
    right = _right(examples, answers)
    figures |= _consistency(examples, answers, right) | _when_sure(answers, right)
    figures |= _of_each_kind(examples, right) | _with_the_best_threshold(examples, answers)
    if close is not None:
        figures["near_duplicates"] = len(close)
        for name, chosen in (("near", close), ("far", set(range(len(right))) - close)):
            part = score_answers([examples[n] for n in chosen], [answers[n] for n in chosen], normalise)
            figures |= {f"{key}_{name}": part[key] for key in NEAR_AND_FAR if key in part}
    if whole is not None:
        better = _right(examples, [with_english_yes_no(answer) for answer in answer_all(whole, examples)])
        known = [n for n, example in enumerate(examples) if example.source == "knowledge"]
        for name, rows in (("", list(range(len(examples)))), ("knowledge_", known)):
            if len(rows) > 1:
                gain = np.array([better[n] - right[n] for n in rows])
                figures[f"{name}whole_exact_match"] = float(np.mean([better[n] for n in rows]))
                figures[f"{name}gain"] = float(gain.mean())
                figures[f"{name}gain_error"] = float(gain.std(ddof=1) / len(rows) ** 0.5)
    return {**figures, "ms_per_question": 1000 * elapsed / max(len(examples), 1)}


def _right(examples: Sequence[Example], answers: Sequence[Answer]) -> list[float]:
    return [
        is_correct(example, answer.best, normalise) for example, answer in zip(examples, answers, strict=True)
    ]


def _of_each_kind(examples: Sequence[Example], right: Sequence[float]) -> dict[str, float]:
    seen: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for example, value in zip(examples, right, strict=True):
        if example.kind:
            seen[example.source.value, example.kind].append(value)
    if len({kind for _, kind in seen}) < 2:
        return {}
    return {
        f"exact_match_{source}_{kind.replace(' ', '_')}": sum(values) / len(values)
        for (source, kind), values in sorted(seen.items())
        if len(values) >= MIN_OF_A_KIND
    }


def _with_the_best_threshold(examples: Sequence[Example], answers: Sequence[Answer]) -> dict[str, float]:
    asked = [(e, a) for e, a in zip(examples, answers, strict=True) if e.choice is None]
    answerable = [bool(example.golds) for example, _ in asked]
    if all(answerable) or not any(answerable):
        return {}
    predictions = [(e, a.candidates[0].text if a.candidates else "") for e, a in asked]
    found: dict[str, float] = {}
    for name, worth in (
        ("exact_match", [is_correct(example, text, normalise) for example, text in predictions]),
        ("f1", [f1(text, example.golds) for example, text in predictions]),
    ):
        threshold, best = best_threshold([answer.none for _, answer in asked], worth, answerable)
        found |= {f"best_{name}": best, f"best_{name}_threshold": threshold}
    return found


def _consistency(
    examples: Sequence[Example], answers: Sequence[Answer], right: Sequence[float]
) -> dict[str, float]:
    """Contrast pairs with both correct, and paraphrases with the same answer."""
    stems = [_stem(example) for example in examples]
    members = Counter(stems)
    pairs = [stem if members[stem] == 2 else "" for stem in stems]  # larger groups only share a passage
    figures = {"pair_exact_match": pair_accuracy(pairs, right)} if any(pairs) else {}
    said: defaultdict[str, list[str]] = defaultdict(list)
    for example, answer in zip(examples, answers, strict=True):
        said[example.same].append(normalise(answer.best or ""))
    same = [len(set(texts)) == 1 for name, texts in said.items() if name and len(texts) > 1]
    return {**figures, "wordings_agree": sum(same) / len(same)} if same else figures


def _stem(example: Example) -> str:
    stem, dash, side = example.question.id.rpartition("-")
    return stem if dash and len(side) == 1 and side.isalpha() and not example.same else ""


def _when_sure(answers: Sequence[Answer], right: Sequence[float]) -> dict[str, float]:
    """Number of sure answers, and the share of correct ones, of all sources and of each."""
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for answer, value in zip(answers, right, strict=True):
        if answer.confidence >= SURE:
            seen["90"].append(value)
            seen[f"90_{answer.source}"].append(value)
        if answer.source is Source.NONE and answer.confidence >= SURE_OF_NONE:
            seen["70_none"].append(value)
    shares = {f"right_at_{name}": sum(values) / len(values) for name, values in seen.items()}
    return shares | {f"told_at_{name}": float(len(values)) for name, values in seen.items()}


# Calibration of a trained reader on questions that it was not trained on: answer types and confidence.

RIGHT_WHEN_SURE = 0.97
"""Share of correct answers that is asked of those told with at least `SURE`."""
CLOSE = 1.0
"""Regularization of the answer-type calibration: weight of the squared distance from the identity."""
SHARES = (0.0, 0.5)
"""Ensemble weights of the graph-free pass that are tried; the one with more correct answers is used, for questions with
and without choices separately."""


def calibrate(answerer: Answerer, examples: Sequence[Example]) -> dict[str, Any]:
    """Calibrate the answer-type classifier and the decision parameters on examples, and set them in the answerer.

    Returns what `store_calibration` writes.
    """
    asked = [example for example in examples if example.source is not Source.CHOICE]
    if len(asked) < 30:
        raise InputError(
            f"{len(asked)} questions without choices are too few to calibrate with; give 30 or more"
        )
    # there is no graph-free pass over a closed-world graph, so its weights cannot be fitted
    closed_world, given = answerer.graph.closed_world, answerer.decision
    shares = (given.graph_free_weight,) if closed_world else SHARES
    fitted = [_fit(answerer, examples, asked, share) for share in shares]
    with_choices = np.array([example.source is Source.CHOICE for example in examples])
    right = np.array([_right(examples, answers) for _, answers in fitted])  # (weights, questions)
    best = int(right[:, ~with_choices].sum(1).argmax())
    best_of_choices = int(right[:, with_choices].sum(1).argmax()) if with_choices.any() else best
    answer_type = fitted[best][0]
    answerer.reader.network.answer_type.calibrate(*answer_type)
    answers = [fitted[best_of_choices if c else best][1][n] for n, c in enumerate(with_choices)]
    calibration = fit_calibration(examples, answers)
    table = {
        "graph_free_weight": shares[best],
        "graph_free_choices": given.graph_free_choices if closed_world else shares[best_of_choices],
        "calibration": calibration,
        "sure": fit_sure(examples, answers, calibration),
    }
    answerer.decision = answerer.decision.model_copy(update=table)
    scale, shift = answer_type
    return {
        "answer_type": {"scale": scale, "shift": shift},
        "decision": answerer.decision.model_dump(mode="json"),
    }


def _fit(
    answerer: Answerer, examples: Sequence[Example], asked: Sequence[Example], share: float
) -> tuple[tuple[float, tuple[float, ...]], list[Answer]]:
    """The calibration of the answer-type classifier for a weight of the graph-free pass, and the answers with it,
    before calibration of confidence."""
    answer_type = answerer.reader.network.answer_type
    answer_type.calibrate()
    weights = {"graph_free_weight": share, "graph_free_choices": None}
    answerer.decision = answerer.decision.model_copy(update={**weights, "calibration": {}, "sure": {}})

    def answer_types(questions: Sequence[Question]) -> list[Tensor]:
        states = tuple(QAState(question, tuple(answerer.retrieve(question))) for question in questions)
        graph_free = partial(answerer.decision.graph_free, answerer.graph)
        return [state.scores.answer_type for state in read(states, answerer.reader, graph_free)]

    scores = torch.stack(answer_all(answer_types, asked))  # (Q, C)
    fitted = fit_answer_type(scores, torch.tensor([gold_source(e) for e in asked]))
    answer_type.calibrate(*fitted)
    return fitted, [with_english_yes_no(answer) for answer in answer_all(answerer.answer_many, examples)]


def fit_answer_type(scores: Tensor, right: Tensor) -> tuple[float, tuple[float, ...]]:
    """Scale and biases of the answer-type classifier: (a, b) of softmax(a * scores + b), by maximum likelihood.

    Vector scaling with a single scale (Guo et al., 2017, section 4.2), regularized towards (1, 0) by `CLOSE`.
    """
    logarithm = torch.zeros((), requires_grad=True)
    shift = torch.zeros(scores.shape[1], requires_grad=True)

    def loss() -> Tensor:
        value = torch.nn.functional.cross_entropy(scores * logarithm.exp() + shift, right, reduction="sum")
        return value + CLOSE * (logarithm.square() + shift.square().sum())

    minimise(loss, [logarithm, shift])
    return float(logarithm.detach().exp()), tuple(round(float(b), 4) for b in shift.detach())


def minimise(loss: Callable[[], Tensor], weights: Sequence[Tensor]) -> None:
    """Change weights such that a loss over all data is smallest (L-BFGS)."""
    optimizer = torch.optim.LBFGS(weights, max_iter=100, line_search_fn="strong_wolfe")

    def step() -> Tensor:
        optimizer.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(step)  # type: ignore[no-untyped-call]


def fit_calibration(examples: Sequence[Example], answers: Sequence[Answer]) -> dict[str, tuple[float, float]]:
    """Platt scaling (Platt, 1999) for each type of answer: (a, b) of sigmoid(a * logit(score) + b), with a >= 0.

    Questions with choices have one pair, and all types of other answers share another, since separate fits are worse on
    held-out questions (training/RUNS.md). With fewer than 30 answers, nothing is fitted.
    """
    sorts, scores = zip(*map(_sort_and_score, answers), strict=True) if answers else ((), ())
    score, right = np.array(scores), np.array(_right(examples, answers))
    found: dict[str, tuple[float, float]] = {}
    of_choices = np.array([sort == Source.CHOICE for sort in sorts])
    for chosen in (~of_choices, of_choices):
        if chosen.sum() >= 30:
            some = {sort for sort, is_chosen in zip(sorts, chosen, strict=True) if is_chosen}
            found |= dict.fromkeys(sorted(some), fit_platt(score[chosen], right[chosen]))
    return found


def fit_sure(
    examples: Sequence[Example], answers: Sequence[Answer], calibration: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """For each type of answer, the least calibrated confidence from `SURE` on from which `RIGHT_WHEN_SURE` are correct;
    0.999 if none is, and nothing for a type with that share from `SURE` on."""
    plain = DecisionConfig(calibration=calibration)
    told: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for answer, right in zip(answers, _right(examples, answers), strict=True):
        sort, score = _sort_and_score(answer)
        confidence = plain.confidence(Candidate("", answer.source, score))
        told[sort].append((confidence, right))
    found = {}
    for sort, pairs in told.items():
        sure = sorted((pair for pair in pairs if pair[0] >= SURE), reverse=True)
        shares = np.cumsum([right for _, right in sure]) / np.arange(1, len(sure) + 1)
        enough = np.flatnonzero(shares >= RIGHT_WHEN_SURE)
        if len(sure) and (not len(enough) or enough[-1] < len(sure) - 1):
            found[sort] = round(sure[enough[-1]][0], 4) if len(enough) else 0.999
    return found


def _sort_and_score(answer: Answer) -> tuple[str, float]:
    """Type and confidence of an answer that was given before calibration."""
    sort = answer.candidates[0].sort if answer.text is not None else answer.source.value
    return sort, answer.confidence


def fit_platt(score: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[float, float]:
    """Maximum-likelihood (a, b) of sigmoid(a * logit(score) + b), slightly regularized towards (1, 0)."""
    from scipy.optimize import minimize

    score = score.clip(1e-6, 1 - 1e-6)
    x = np.stack([np.log(score / (1 - score)), np.ones_like(score)], axis=1)
    mean = x[:, 0].mean()
    # centred, since slope and shift are nearly collinear if all scores are close together and far from 0
    x[:, 0] -= mean
    start = np.array([1.0, mean])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds, off = x @ weights, weights - start
        value = np.logaddexp(0, odds).sum() - right @ odds + 5e-4 * off @ off
        return float(value), x.T @ (np.exp(-np.logaddexp(0, -odds)) - right) + 1e-3 * off

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)])
    slope, shift = map(float, found.x)
    return slope, shift - slope * float(mean)


def store_calibration(folder: Path, fitted: dict[str, Any]) -> None:
    """Write the result of `calibrate` to a reader's card, atomically."""
    write_card(folder, {**read_card(folder), **fitted})
