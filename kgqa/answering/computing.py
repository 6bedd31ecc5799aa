"""Answers over closed-world graphs: the logical form that says what was asked is executed, or none is.

The probability of an answer is the sum over the forms that denote it (Liang, Jordan and Klein, 2013, Learning
Dependency-Based Compositional Semantics).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from kgqa.answering.deciding import ranked
from kgqa.answering.draft import Computed, Draft, Drafts
from kgqa.answering.logical_forms.enumerate import Enumerator
from kgqa.answering.logical_forms.facts import GraphFacts, Row, edge_of, ids, with_facts
from kgqa.answering.logical_forms.language import Form
from kgqa.answering.logical_forms.mentions import asked_of
from kgqa.answering.logical_forms.names import Names
from kgqa.answering.logical_forms.rank import NOT_SAID, Ranked, shortlist
from kgqa.answering.logical_forms.sparql import to_sparql
from kgqa.answering.retrieving import Retriever
from kgqa.models.opening import LoadedReader
from kgqa.types import (
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Item,
    Question,
    Reading,
    Source,
    Subgraph,
    first_line,
)

MOST_SHOWN = 50
"""Members of an answer that are named, and paths of facts that are kept as evidence."""
READ_TOGETHER = 8
"""Questions that are read beside their forms at once."""
READ_FIRST, SURE = 12, 0.9
"""Forms that are read before the others, and the probability of one from which on those are not read."""
MOST_READINGS = 3
"""Other readings of a question that are told."""
NEAR = 0.02
"""Probability from which on what the graph does say is offered beside an answer that it does not."""


class Weighing(BaseModel):
    """How the reader's scores become probabilities: fitted on practice graphs that the adapter was not trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prior: float = 0.0
    """Weight of the shortlist's score beside the reader's."""
    unsaid: float = 0.0
    """Added to the score of that the graph does not say it."""
    temperature: float = Field(1.0, gt=0)

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> Weighing:
        """What a reader's card says, else nothing beside the reader's scores.

        Raises:
            InputError: the card says something else.
        """
        try:
            return cls.model_validate(card.get("forms") or {})
        except ValidationError as error:
            raise InputError(
                f"reader.json: forms: {first_line(error, 200)}; copy the checkpoint again"
            ) from None

    def chances(self, scores: Tensor, candidates: Sequence[Ranked]) -> Tensor:
        """Probabilities (C + 1,) of scores (C + 1,)."""
        read = candidates[: len(scores) - 1]
        added = torch.tensor([*(self.prior * candidate.score for candidate in read), self.unsaid])
        return ((scores + added) / self.temperature).softmax(-1)


def operate(drafts: Drafts, retriever: Retriever, reader: LoadedReader) -> Drafts:
    """What the likeliest form gives, for open questions over a closed-world graph; nothing where the passage is
    likelier to answer. What an open-world graph does not state is not false, so nothing is counted there.

    Raises:
        InputError: the reader's card is damaged, or a graph on the network does not answer.
    """
    graph = retriever.graph
    if not graph.is_complete:
        return drafts
    found: dict[int, tuple[GraphFacts, list[Ranked]]] = {}
    for n, draft in enumerate(drafts):
        if draft.is_open:
            facts = GraphFacts(graph)
            asked = asked_of(facts, retriever.linker, retriever.index, draft.question)
            forms = Enumerator(facts, asked, retriever.index.classes).forms()
            found[n] = facts, shortlist(facts, asked, forms, retriever.likeness)
    asked_beside = [
        (drafts[n].question, [c.phrase for c in candidates]) for n, (_, candidates) in found.items()
    ]
    read = zip(found, _read(asked_beside, reader.forms or reader), strict=True)
    weighing = Weighing.of_card(getattr(reader, "card", {}))
    computed = {
        n: _computed(drafts[n], *found[n], weighing.chances(scores, found[n][1])) for n, scores in read
    }
    kept = {n: made for n, made in computed.items() if not _passage_answers(drafts[n], made)}
    return tuple(replace(draft, computed=kept.get(n)) for n, draft in enumerate(drafts))


def execute_form(text: str, retriever: Retriever) -> Computed:
    """What a form written as an s-expression gives.

    Raises:
        InputError: it is no form, or names what the graph does not know.
    """
    from kgqa.answering.logical_forms.execute import execute
    from kgqa.answering.logical_forms.verbalize import Verbalizer

    facts = GraphFacts(retriever.graph)
    form = Names(facts).parse(text)
    result = execute(facts, form)
    if result is None or not (result.members or result.text):
        return Computed(Candidate("", Source.NONE, 1.0), Evidence(query=to_sparql(facts, form)))
    ranked_form = Ranked(form, result, Verbalizer(facts).phrase(form), 0.0)
    return _answer(Draft(Question(text)), facts, ranked_form, 1.0, ())


def _passage_answers(draft: Draft, computed: Computed | None) -> bool:
    """Whether the passage answers an open question, likelier than what was computed does."""
    best = ranked(draft)[0]
    found = computed.candidate if computed else None
    told = found is not None and found.source is not Source.NONE and found.score > best.score
    return best.source is Source.PASSAGE and not told


def _read(asked: Sequence[tuple[Question, Sequence[str]]], reader: LoadedReader) -> list[Tensor]:
    """Scores (C + 1,) of each question's phrases and of none of them.

    The likeliest are read first, the others where the reader is not sure of one of those.
    """
    first = [(question, phrases[:READ_FIRST]) for question, phrases in asked]
    scores = _scored([replace(q, choices=(*phrases, NOT_SAID)) for q, phrases in first], reader)
    unsure = [
        n
        for n, (_, phrases) in enumerate(asked)
        if len(phrases) > READ_FIRST and float(scores[n].softmax(-1)[:-1].max()) < SURE
    ]
    others = [replace(asked[n][0], choices=tuple(asked[n][1][READ_FIRST:])) for n in unsure]
    for n, more in zip(unsure, _scored(others, reader), strict=True):
        scores[n] = torch.cat([scores[n][:-1], more, scores[n][-1:]])
    return scores


def _scored(questions: Sequence[Question], reader: LoadedReader) -> list[Tensor]:
    """Scores of each question's choices; questions of a length are read together."""
    order = sorted(range(len(questions)), key=lambda n: sum(map(len, questions[n].choices)))
    found: dict[int, Tensor] = {}
    for at in range(0, len(order), READ_TOGETHER):
        part = order[at : at + READ_TOGETHER]
        found |= zip(part, reader.choose([questions[n] for n in part]), strict=True)
    return [found[n] for n in range(len(questions))]


def _computed(
    draft: Draft, facts: GraphFacts, candidates: Sequence[Ranked], chances: Tensor
) -> Computed | None:
    """The likeliest result, or that nothing in the graph says it."""
    *own, unsaid = chances.tolist()
    if not own:
        return None
    share: dict[object, float] = {}
    best: dict[object, int] = {}
    for n, chance in enumerate(own):
        key = candidates[n].result.key
        share[key] = share.get(key, 0.0) + chance
        if key not in best or chance > own[best[key]]:
            best[key] = n
    order = sorted(share, key=lambda key: -share[key])
    first = candidates[best[order[0]]]
    if unsaid >= share[order[0]]:
        near = _reading(facts, first, share[order[0]]) if share[order[0]] >= NEAR else None
        evidence = Evidence(near=near)
        return Computed(Candidate("", Source.NONE, unsaid), evidence)
    others = [_reading(facts, candidates[best[key]], share[key]) for key in order[1 : MOST_READINGS + 1]]
    return _answer(draft, facts, first, share[order[0]], tuple(r for r in others if r.probability >= NEAR))


def _reading(facts: GraphFacts, candidate: Ranked, probability: float) -> Reading:
    """A form as it is told beside an answer."""
    return Reading(
        candidate.phrase.split(": ")[0], _said(facts, candidate), _shown(facts, candidate.form), probability
    )


def _shown(facts: GraphFacts, form: Form) -> str:
    return Names(facts).show(form)


def _said(facts: GraphFacts, candidate: Ranked) -> str:
    """What a form gives, as a text."""
    return ", ".join(_texts(facts, candidate)[:MOST_SHOWN])


def _texts(facts: GraphFacts, candidate: Ranked) -> list[str]:
    result = candidate.result
    if not result.is_set:
        return [result.text]
    return list(dict.fromkeys(label for e in facts.by_label(result.members) if (label := facts.label(e))))


def _answer(
    draft: Draft, facts: GraphFacts, candidate: Ranked, sure: float, others: tuple[Reading, ...]
) -> Computed:
    graph, result = facts.graph, candidate.result
    texts = _texts(facts, candidate)
    ends = [e for e in facts.by_label(result.members) if facts.label(e)]
    paths = [result.members[e] for e in ends] if result.is_set else list(result.facts)
    shown = paths[:MOST_SHOWN]
    subgraph = with_facts(
        draft.subgraphs[0] if draft.subgraphs else Subgraph(), graph, [row for path in shown for row in path]
    )
    edges = [tuple(edge_of(subgraph, graph, row) for row in path) for path in shown]
    ahead = (
        [_directions(path, e) for path, e in zip(shown, ends, strict=False)]
        if result.is_set
        else [(True,) * len(steps) for steps in edges]
    )
    found = tuple(
        EvidencePath(steps, forward, 1.0) for steps, forward in zip(edges, ahead, strict=True) if steps
    )
    names = graph.names(ids(ends)) if ends else []
    best = Candidate(texts[0] if texts else "", Source.KNOWLEDGE, sure, concept=names[0] if names else None)
    evidence = Evidence(
        paths=found,
        subgraph=subgraph,
        score=sure,
        query=to_sparql(facts, candidate.form),
        reading=_reading(facts, candidate, sure),
        other_readings=others,
    )
    items: tuple[Item, ...] = ()
    if len(texts) > 1:
        own = [*found, *(None for _ in ends[len(found) :])]
        items = tuple(
            Item(facts.label(e), name, path=path) for e, name, path in zip(ends, names, own, strict=False)
        )
    return Computed(best, evidence, items)


def _directions(path: Sequence[Row], end: int) -> tuple[bool, ...]:
    """Whether each fact of a path to an end is followed from head to tail."""
    forward = []
    for row in reversed(path):
        forward.append(row.tail == end)
        end = row.head if row.tail == end else row.tail
    return tuple(reversed(forward))
