"""Answer heads: `forward` scores, `loss` trains, `decode` turns scores into answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import PackedCandidates, QABatch, ReasonerOutput
from kgqa.limits.cancellation import check_cancelled
from kgqa.models.collation.collate import ANSWER_TYPES, YES_NO_CLASSES, Collated
from kgqa.models.segments import segment_mean, segment_softmax, segment_sum
from kgqa.types import LINKED, Candidate, NodeRole, Source, Span

# The answer-type classifier: passage, knowledge, none, yes or no.

FIRST_YES_NO_CLASS = len(ANSWER_TYPES)
"""Class of yes; no is the next one."""


class AnswerTypeHead(nn.Module):
    """Classifies a question as passage, knowledge or none (and yes or no), from text, graph and the other heads'
    best scores.

    The other heads' scores are detached: no gradient flows to them.
    """

    def __init__(
        self,
        hidden_size: int,
        dropout: float = 0.1,
        yes_no: bool = False,
        inner_size: int = 0,
        none_per_window: float | None = None,
    ) -> None:
        super().__init__()
        self.none_per_window = none_per_window
        inner = inner_size or hidden_size
        self.classes = len(ANSWER_TYPES) + (len(YES_NO_CLASSES) if yes_no else 0)
        self.hidden = nn.Linear(2 * hidden_size + 3, inner)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, self.classes))
        self.scale, self.shift = 1.0, (0.0,) * self.classes

    def forward(
        self,
        fused: ReasonerOutput,
        batch: QABatch,
        *,
        span_margin: Tensor,
        best_concept: Tensor,
        yes_no: Tensor | None = None,
    ) -> Tensor:
        """Scores (Q, C) of `ANSWER_TYPES`, then of yes and no. For questions without a passage the passage
        class is masked and, unless candidates are packed, yes and no as well.

        `span_margin` (Q,) comes from `SpanHead.margin`, `best_concept` (Q, 2) from `ConceptHead.best`;
        `yes_no` (Q, 2) are the scores of yes and no if they were packed as candidates.
        """
        rows = (batch.question, batch.num_questions)
        text = torch.cat([fused.summary, fused.pooled], dim=-1)  # (B, 2H)
        # logits are divided by 10, towards the scale of the hidden states beside them
        margins = torch.cat([span_margin.unsqueeze(-1), best_concept], dim=-1).detach() / 10
        if self.none_per_window is None:
            scores = self._scores(segment_mean(text, *rows), margins)
        else:
            scores = self._best_window(
                self._scores(text, margins[batch.question]), batch, self.none_per_window
            )
        if yes_no is not None:
            scores = torch.cat(
                [scores[:, :FIRST_YES_NO_CLASS], scores[:, FIRST_YES_NO_CLASS:] + yes_no], dim=1
            )
        has_passage = segment_mean(batch.passage_mask.any(1).float(), *rows) > 0
        forbidden = torch.zeros_like(scores, dtype=torch.bool)
        # -1e4 instead of -inf: the loss of a wrongly labelled question stays finite
        forbidden[:, 0] = ~has_passage
        if batch.packed is None:
            forbidden[:, FIRST_YES_NO_CLASS:] = ~has_passage.unsqueeze(-1)
        return scores.masked_fill(forbidden, -1e4)

    def _scores(self, text: Tensor, margins: Tensor) -> Tensor:
        """Scores (n, C) from text features (n, 2H) and the other heads' margins (n, 3)."""
        scores: Tensor = self.out(self.hidden(torch.cat([text, margins.to(text.dtype)], dim=-1)))
        return scores.float()

    @staticmethod
    def _best_window(scores: Tensor, batch: QABatch, none_per_window: float) -> Tensor:
        """Scores (Q, C): of the rows (B, C) of each question, the one with the largest margin of passage over none.

        The score of none is raised by `none_per_window` times the log of the number of windows, since the
        maximum over more windows is larger by chance alone.
        """
        question, count = batch.question, batch.num_questions
        none = ANSWER_TYPES.index(Source.NONE)
        above = (scores[:, ANSWER_TYPES.index(Source.PASSAGE)] - scores[:, none]).detach()
        most = above.new_full((count,), -torch.inf).scatter_reduce(0, question, above, "amax")
        best = (above == most[question]).nonzero().flatten()
        first = question.new_full((count,), len(question)).scatter_reduce(0, question[best], best, "amin")
        windows = question.bincount(minlength=count)
        rise = torch.zeros_like(scores[first])
        rise[:, none] = none_per_window * windows.log()
        return scores[first] + rise

    def calibrate(self, scale: float = 1.0, shift: Sequence[float] = ()) -> None:
        """Set the scale (inverse temperature) and the per-class biases of `calibrated`; the defaults change nothing."""
        self.scale, self.shift = scale, tuple(shift) or (0.0,) * self.classes

    def calibrated(self, scores: Tensor) -> Tensor:
        """Scores (Q, C) with the calibration applied, which was fitted on held-out questions."""
        return scores * self.scale + scores.new_tensor(self.shift)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of scores (Q, C), summed over the questions without choices, and their number.

        A yes/no question with a passage also trains the scores of passage and knowledge against each other:
        its label says which of the two the answer rests on.
        """
        gold = batch.gold
        assert gold is not None
        rows = (gold.source >= 0) & (gold.source < self.classes)
        loss = F.cross_entropy(scores[rows], gold.source[rows], reduction="sum")
        grounded = rows & (gold.ground >= 0)
        ground = F.cross_entropy(scores[grounded, :2], gold.ground[grounded], reduction="sum")
        return loss + ground, int(rows.sum())


def says_yes_or_no(sources: Collection[float], yes_no: Collection[float]) -> bool:
    """Whether the mean of the probabilities of yes and no exceeds the probability of every source."""
    return sum(yes_no) / 2 > max(sources)


# Multiple choice: one score per choice.


class ChoiceHead(nn.Module):
    """Scores a choice from the text summary and the pooled graph state; softmax over the question's rows.

    The graph term is a network of its own, with its output layer initialized to zero: training starts from
    the text score alone. The best score of the concept head among the choice's concepts is added with a
    learned weight, initially zero.
    """

    def __init__(self, hidden_size: int, dropout: float = 0.1, inner_size: int = 0) -> None:
        super().__init__()
        inner = inner_size or hidden_size
        self.text = nn.Sequential(
            nn.Linear(hidden_size, hidden_size), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden_size, 1)
        )
        self.graph = nn.Sequential(nn.Linear(2 * hidden_size, inner), nn.GELU(), nn.Dropout(dropout))
        self.graph_out = nn.Linear(inner, 1)
        nn.init.zeros_(self.graph_out.weight)
        # weight of the best concept's score, and a bias if the choice has a concept at all
        self.known = nn.Parameter(torch.zeros(2))

    def forward(self, fused: ReasonerOutput, batch: QABatch, concept: Tensor) -> Tensor:
        """Score (C,) of each row, or of each packed candidate; `concept` (N,) are the concept head's node scores."""
        packed, text, pooled = batch.packed, fused.summary, fused.pooled
        if packed is not None:
            assert fused.packed is not None
            text, pooled = fused.packed, pooled[packed.row]
        joint = torch.cat([text, pooled], dim=-1)
        score: Tensor = (self.text(text) + self.graph_out(self.graph(joint))).squeeze(-1).float()
        if packed is not None:
            known = self.known[0] * concept[packed.node.clamp(min=0)] + self.known[1]
            return score + torch.where(packed.node >= 0, known, 0.0)
        chosen = batch.graph.role == int(NodeRole.CHOICE)
        row = batch.graph.batch[chosen]
        best = score.new_full((batch.num_rows,), -1e4).scatter_reduce(0, row, concept[chosen], "amax")
        return score + torch.where(best > -1e4, self.known[0] * best + self.known[1], 0.0)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of scores (C,) over the choices of each question that has a gold choice; their number."""
        gold = batch.gold
        assert gold is not None
        asked = gold.choice >= 0
        if not asked.any():
            return scores.sum() * 0.0, 0
        each = of_choices(scores, batch)
        return F.cross_entropy(each[asked], gold.choice[asked], reduction="sum"), int(asked.sum())

    def decode(self, scores: Tensor, collated: Collated) -> list[list[Candidate]]:
        """Choices by scores (C,), best first; the score of a choice is the maximum over its windows."""
        answers = []
        for example, found in zip(collated.examples, of_choices(scores, collated.batch), strict=True):
            choices = example.question.choices
            weights = found[: len(choices)].softmax(0).tolist()
            ranked = sorted(range(len(choices)), key=lambda c: (-weights[c], c))
            answers.append([Candidate(choices[c], Source.CHOICE, weights[c]) for c in ranked])
        return answers


def of_choices(scores: Tensor, batch: QABatch) -> Tensor:
    """Score of each choice, (Q, choices): the maximum over its windows; -1e4 where a question has fewer choices."""
    question, choice = batch.scored
    most = int(choice.max()) + 1 if len(choice) else 0
    # rows and candidates that are no choice (-1) go to an extra last column, which is dropped
    place = question * (most + 1) + torch.where(choice < 0, most, choice)
    best = scores.new_full((batch.num_questions * (most + 1),), -1e4).scatter_reduce(0, place, scores, "amax")
    return best.view(batch.num_questions, most + 1)[:, :most]


# Answers from knowledge: a pointer over the concepts of the retrieved subgraph.


class ConceptHead(nn.Module):
    """Pointer over nodes: the softmax over a row's nodes is the answer distribution, as in ReaRev.

    Any accepted concept is correct, so the loss is minus the log of the accepted nodes' total probability.
    With `prior` the retriever's ranking is part of the scores, and training learns corrections to it.
    """

    def __init__(
        self, hidden_size: int, dropout: float = 0.1, prior: bool = True, inner_size: int = 0
    ) -> None:
        super().__init__()
        inner = inner_size or hidden_size
        # Learned: the weight of the log of a node's relevance (the square root of the ranker's odds, hence
        # 2), and the score of linked nodes, which starts low: what a question mentions is rarely its answer.
        self.prior = nn.Parameter(torch.tensor([2.0, -4.0])) if prior else None
        self.node = nn.Linear(hidden_size, inner)
        self.text = nn.Linear(2 * hidden_size, inner)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, 1))
        self.query = nn.Linear(hidden_size, inner)
        self.key = nn.Linear(hidden_size, inner)

    def begin_at_prior(self) -> None:
        """Set the last layers to zero, so that an untrained head with a prior ranks as the retriever does."""
        last = self.out[-1]
        assert isinstance(last, nn.Linear)
        for layer in (last, self.query):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(
        self, fused: ReasonerOutput, batch: QABatch, candidate_scores: Tensor | None = None
    ) -> Tensor:
        """Score of each node, (N,); the context nodes get -1e4.

        `candidate_scores` (C,) of packed candidates are added to the scores of their nodes; -1e4 is added to
        the other nodes of a row that has packed concepts.
        """
        row = batch.graph.batch
        text = self.text(torch.cat([fused.summary, fused.pooled], dim=-1))
        scores: Tensor = self.out(self.node(fused.nodes) + text.index_select(0, row)).squeeze(-1)
        match = (self.query(fused.summary).index_select(0, row) * self.key(fused.nodes)).sum(-1)
        scores = (scores + match / math.sqrt(self.key.out_features)).float()
        if self.prior is not None:
            linked = torch.stack([batch.graph.role == int(role) for role in LINKED]).any(0)
            relevance = self.prior[0] * batch.graph.score.clamp(min=1e-4).log()
            scores = scores + torch.where(linked, self.prior[1], relevance)
        if candidate_scores is not None and batch.packed is not None:
            scores = scores + _beside(candidate_scores, batch, batch.packed)
        return scores.masked_fill(batch.graph.role == int(NodeRole.CONTEXT), -1e4)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Loss () of scores (N,), summed over the rows whose subgraph holds an accepted concept and whose question
        has no choices, and their number."""
        gold = batch.gold
        assert gold is not None
        row = batch.graph.batch
        probability = segment_softmax(scores, row, batch.num_rows)
        right = segment_sum(probability * gold.node, row, batch.num_rows)
        has = (segment_sum(gold.node.float(), row, batch.num_rows) > 0) & (batch.choice < 0)
        return -right[has].clamp(min=1e-9).log().sum(), int(has.sum())

    def best(self, scores: Tensor, batch: QABatch) -> Tensor:
        """Maximum of each question's node scores (N,), and their log-sum-exp minus that maximum: (Q, 2),
        input of the answer-type classifier."""
        # a bounded floor for questions without nodes: the classifier's input must stay in a normal range
        low = torch.full((batch.num_questions,), -20.0, device=scores.device)
        question = batch.question[batch.graph.batch]
        top = low.scatter_reduce(0, question, scores, "amax")
        spread = torch.logaddexp(low, _logsumexp(scores, question, batch.num_questions))
        return torch.stack([top, spread - top], dim=-1)

    def decode(self, scores: Tensor, collated: Collated, k: int = 10) -> list[list[Candidate]]:
        """The k best concepts of each question by scores (N,); the probability of a concept is the maximum
        over the question's windows."""
        found: list[dict[tuple[str, str], float]] = [{} for _ in collated.examples]
        for row in collated.rows:
            count = len(row.subgraph.nodes)
            if row.choice >= 0 or not count:
                continue
            weights = F.softmax(scores[row.first_node + 1 : row.first_node + 1 + count], dim=0).tolist()
            seen = found[row.question]
            for name, label, weight in zip(row.subgraph.nodes, row.subgraph.labels, weights, strict=True):
                if not label:  # a blank node cannot be shown as an answer
                    continue
                seen[name, label] = max(weight, seen.get((name, label), 0.0))
        return [
            [
                Candidate(label, Source.KNOWLEDGE, weight, concept=name)
                for (name, label), weight in sorted(seen.items(), key=lambda i: (-i[1], i[0]))[:k]
            ]
            for seen in found
        ]


def _beside(candidate_scores: Tensor, batch: QABatch, packed: PackedCandidates) -> Tensor:
    """What packed candidates add to the score of each node, (N,): their score, or -1e4 for nodes that were
    not packed in a row that has packed concepts."""
    held = (packed.choice < 0) & (packed.node >= 0)
    read = torch.zeros(batch.num_rows, dtype=torch.bool, device=candidate_scores.device)
    read[packed.row[held]] = True
    added = torch.where(read[batch.graph.batch], -1e4, 0.0)
    return added.index_put((packed.node[held],), candidate_scores[held])


def _logsumexp(scores: Tensor, index: Tensor, size: int) -> Tensor:
    top = torch.full((size,), -1e4, device=scores.device).scatter_reduce(0, index, scores, "amax")
    total = segment_sum((scores - top[index]).exp(), index, size)
    return total.clamp(min=1e-9).log() + top


# Extractive QA: start and end tokens, with "no span" at the summary position.

MAX_SPAN_TOKENS = 30
NOT_A_TOKEN = -1e4


class SpanHead(nn.Module):
    """Start and end logits (Devlin et al., 2019, section 4.2-4.3); position 0 stands for "no span here"."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.out = nn.Linear(hidden_size, 2)
        self.null = nn.Linear(hidden_size, 2)

    def forward(self, fused: ReasonerOutput, batch: QABatch) -> Tensor:
        """Start and end scores (B, T, 2); tokens outside the passage get -1e4, position 0 the null score."""
        scores = self.out(fused.tokens).float()
        scores = scores.masked_fill(~batch.passage_mask.unsqueeze(-1), NOT_A_TOKEN)
        null = self.null(fused.summary).float().unsqueeze(1)
        return torch.cat([null, scores[:, 1:]], dim=1)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of start and end for scores (B, T, 2), summed over the rows with a passage, and
        their number.

        Position 0 is the target of rows without a gold span.
        """
        gold = batch.gold
        assert gold is not None
        source = gold.source[batch.question]
        rows = (source >= 0) & (source < len(ANSWER_TYPES)) & batch.passage_mask.any(1)
        start = F.cross_entropy(scores[rows, :, 0], gold.start[rows], reduction="sum")
        end = F.cross_entropy(scores[rows, :, 1], gold.end[rows], reduction="sum")
        return (start + end) / 2, int(rows.sum())

    def margin(self, scores: Tensor, batch: QABatch) -> Tensor:
        """Best start plus end score minus that of "no span", (Q,): the maximum over a question's windows."""
        best = (scores[:, 1:].max(1).values.sum(-1) - scores[:, 0].sum(-1)).clamp(min=-20.0)
        low = torch.full((batch.num_questions,), -20.0, device=best.device)
        return low.scatter_reduce(0, batch.question, best, "amax")

    def decode(self, scores: Tensor, collated: Collated, k: int = 5) -> list[list[Candidate]]:
        """Best spans by scores (B, T, 2), start <= end < start + `MAX_SPAN_TOKENS`, over all windows.

        Their probabilities are a softmax over the `k` best spans and "no span", for which the lowest null
        score of all windows counts.
        """
        scores = scores.detach()
        found: list[dict[Span, float]] = [{} for _ in collated.examples]
        null = [float("inf")] * len(collated.examples)
        for row, words in enumerate(collated.rows):
            check_cancelled()
            allowed = collated.batch.passage_mask[row].nonzero().squeeze(-1)
            null[words.question] = min(null[words.question], float(scores[row, 0].sum()))
            if not len(allowed):
                continue
            first, last = int(allowed[0]), int(allowed[-1]) + 1
            pair = scores[row, first:last, 0].unsqueeze(1) + scores[row, first:last, 1].unsqueeze(0)
            band = torch.ones_like(pair, dtype=torch.bool).triu().tril(MAX_SPAN_TOKENS - 1)
            pair = pair.masked_fill(~band, 2 * NOT_A_TOKEN)
            top = pair.flatten().topk(min(k, pair.numel()))
            for value, place in zip(top.values.tolist(), top.indices.tolist(), strict=True):
                start, end = divmod(place, last - first)
                span = Span(words.offsets[first + start][0], words.offsets[first + end][1])
                if value > NOT_A_TOKEN and span.end > span.start:
                    best = found[words.question]
                    best[span] = max(value, best.get(span, value))
        return [
            _candidates(collated.examples[q].question.passage_text, spans, null[q], k)
            for q, spans in enumerate(found)
        ]


def _candidates(text: str, spans: dict[Span, float], null: float, k: int) -> list[Candidate]:
    ordered = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[:k]
    if not ordered:
        return []
    # "no span" comes last, and is dropped below
    weights = torch.tensor([value for _, value in ordered] + [null]).softmax(0).tolist()
    return [
        Candidate(text[span.start : span.end], Source.PASSAGE, weight, span=span)
        for (span, _), weight in zip(ordered, weights, strict=False)
    ]
