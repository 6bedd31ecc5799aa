"""The compute step: answers over closed-world graphs by executing logical forms.

The probability of an answer is the sum over the forms that denote it (Liang, Jordan and Klein, 2013, Learning
Dependency-Based Compositional Semantics).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.retrieval.label_languages import names_asked
from kgqa.graph.sparql import SparqlGraph
from kgqa.models.load import LoadedReader
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.exceptions import excepting, without_exceptions
from kgqa.qa.logical_forms.graph_facts import FactRow, GraphFacts, edge_of, ids, with_facts
from kgqa.qa.logical_forms.graph_index import NameLookup
from kgqa.qa.logical_forms.lacking import lacking
from kgqa.qa.logical_forms.mentions import QuestionMentions, question_mentions
from kgqa.qa.logical_forms.operators import asks_truth
from kgqa.qa.logical_forms.rank import NO_FORM, FormCalibration, RankedForm, shortlist
from kgqa.qa.logical_forms.sparql import asking, executed, to_sparql
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.qa.retrieve import Retriever
from kgqa.qa.state import ComputedAnswer, QAState, QAStates
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    Interpretation,
    Item,
    KnowledgeGraph,
    Question,
    Source,
    Subgraph,
)

MAX_SHOWN = 50
"""Maximum number of items of an answer, and of evidence paths."""
QUESTIONS_PER_BATCH = 8
"""Batch size, in questions."""
FIRST_FORMS, SURE = 12, 0.9
"""Number of forms scored first, and the probability of the best of them from which the others are skipped."""
MAX_OTHERS = 10
"""Maximum number of other results among the candidates."""
MAX_READINGS = 3
"""Number of other interpretations reported."""
NEAR = 0.02
"""Minimum probability of an interpretation to be reported, beside the answer or in place of one."""


def compute(states: QAStates, retriever: Retriever, reader: LoadedReader) -> QAStates:
    """Execute the most probable logical form of each open question over a closed-world graph. In an
    open-world graph facts that are not stated may be true, so nothing can be counted or denied there.

    Raises:
        InputError: the reader's card is damaged, or a remote graph does not respond.
    """
    graph = retriever.graph
    # counting what is stated would count the gaps of an incomplete graph
    if not graph.closed_world:
        return states
    form_calibration = FormCalibration.of_card(getattr(reader, "card", {}))
    # with choices, the answer is one of them, which the heads score
    asked = [n for n, state in enumerate(states) if state.is_open]
    scored = score_forms([states[n].question for n in asked], retriever, reader)
    computed = {
        n: _computed(states[n], facts, candidates, scores, form_calibration)
        for n, (facts, candidates, scores) in zip(asked, scored, strict=True)
    }
    return tuple(replace(state, computed=computed.get(n)) for n, state in enumerate(states))


def score_forms(
    questions: Sequence[Question], retriever: Retriever, reader: LoadedReader
) -> list[tuple[GraphFacts, list[RankedForm], Tensor]]:
    """The candidate forms (C) of each question, with the reader's scores (C + 1,) of them and of "no form fits",
    relations that the mentioned entity lacks included.

    Raises:
        InputError: a remote graph does not respond.
    """
    found = []
    for whole in questions:
        facts = _facts_of(retriever.graph)
        question, left_out = without_exceptions(facts, retriever.linker, retriever.index, whole)
        asked = question_mentions(facts, retriever.linker, retriever.index, question)
        facts = _with_names(facts, asked)
        forms = Enumerator(facts, asked, retriever.index.classes).forms()
        candidates = shortlist(facts, asked, forms, retriever.similarity)
        candidates = excepting(facts, candidates, left_out) or candidates
        lacked = lacking(facts, asked, retriever.similarity) if candidates else {}
        found.append((question, facts, candidates, lacked))
    # all questions are scored together, so that a batch costs a few forward passes instead of one per question
    beside = [(question, [c.phrase for c in candidates], lacked) for question, _, candidates, lacked in found]
    scores = _read(beside, reader.forms or reader)
    return [(facts, candidates, row) for (_, facts, candidates, _), row in zip(found, scores, strict=True)]


def _facts_of(graph: KnowledgeGraph) -> GraphFacts:
    """The facts of a graph; a SPARQL endpoint itself executes forms that need too many facts to be fetched."""
    facts = GraphFacts(graph)
    if isinstance(graph, SparqlGraph):
        facts.ask = asking(facts, graph)
    return facts


def _with_names(facts: GraphFacts, asked: QuestionMentions) -> GraphFacts:
    """The facts, with the names of the mentioned entities added as facts if the question asks for names."""
    named = [e for mention in asked.mentions for e in mention.entities]
    names = names_asked(facts.graph, asked.text, named)
    if not names:
        return facts
    labels = {facts.name(e): facts.label(e) for e in named}
    added = [LabelledFact(triple, (labels[triple.head], text)) for triple, (text, _) in names.items()]
    called = {relation.name: relation for _, relation in names.values()}
    return GraphFacts(OverlayGraph(facts.graph, added, called=called))


def execute_form(text: str, graph: KnowledgeGraph) -> Answer:
    """Execute a logical form given as an s-expression over a graph.

    Raises:
        InputError: the form is malformed, or names something that the graph does not have.
    """
    from kgqa.qa.logical_forms.execute import execute

    facts, state = _facts_of(graph), QAState(Question(text))
    form = NameLookup(facts).parse(text)
    result = executed(facts, form, execute(facts, form))
    if result is None or not (result.members or result.text):
        found = ComputedAnswer(Candidate("", Source.NONE, 1.0), Evidence(query=to_sparql(facts, form)))
    else:
        found = _answer(
            state, facts, RankedForm(form, result, "", 0.0, Verbalizer(facts, for_people=True)), 1.0, ()
        )
    best = found.candidate
    done = replace(state, candidates=(best,), source=best.source, confidence=best.score)
    return replace(done, evidence=found.evidence, items=found.items).answer("", graph.name)


def _read(
    asked: Sequence[tuple[Question, Sequence[str], Mapping[str, float]]], reader: LoadedReader
) -> list[Tensor]:
    """Scores (C + 1,) of each question's verbalized forms, and of "no form fits": the log-sum-exp of the scores of
    `NO_FORM` and of the phrases of what the mentioned entity lacks.

    The first `FIRST_FORMS` are scored first with what the entity lacks, the others only if the probability of none of
    these reaches `SURE`.
    """
    scores = _scored(
        [replace(q, choices=(*f[:FIRST_FORMS], *lacked, NO_FORM)) for q, f, lacked in asked], reader
    )
    for n, (_, forms, lacked) in enumerate(asked):
        own = len(forms[:FIRST_FORMS])
        none = scores[n][own:] + torch.tensor([*lacked.values(), 0.0])
        scores[n] = torch.cat([scores[n][:own], none.logsumexp(-1, keepdim=True)])
    unsure = [
        n
        for n, (_, forms, _) in enumerate(asked)
        if len(forms) > FIRST_FORMS and float(scores[n].softmax(-1)[:-1].max()) < SURE
    ]
    more = _scored([replace(asked[n][0], choices=tuple(asked[n][1][FIRST_FORMS:])) for n in unsure], reader)
    for n, row in zip(unsure, more, strict=True):
        scores[n] = torch.cat([scores[n][:-1], row, scores[n][-1:]])
    return scores


def _scored(questions: Sequence[Question], reader: LoadedReader) -> list[Tensor]:
    """Scores of each question's choices; questions of similar length are batched."""
    # rows of similar length waste little padding
    order = sorted(range(len(questions)), key=lambda n: sum(map(len, questions[n].choices)))
    found: dict[int, Tensor] = {}
    for at in range(0, len(order), QUESTIONS_PER_BATCH):
        part = order[at : at + QUESTIONS_PER_BATCH]
        found |= zip(part, reader.choose([questions[n] for n in part]), strict=True)
    return [found[n] for n in range(len(questions))]


def _computed(
    state: QAState,
    facts: GraphFacts,
    candidates: Sequence[RankedForm],
    scores: Tensor,
    form_calibration: FormCalibration,
) -> ComputedAnswer | None:
    """The most probable denotation, or "no answer"; None leaves the question to the reader."""
    *own, no_form = form_calibration.probabilities(scores, candidates).tolist()
    if not own:  # yes/no questions about entities of the graph are not left to the reader's own knowledge
        named = state.subgraphs and state.subgraph.links and asks_truth(state.question.text)
        return ComputedAnswer(Candidate("", Source.NONE, no_form)) if named else None
    share: dict[object, float] = {}  # probability of each denotation
    best: dict[object, int] = {}  # its most probable form
    for n, chance in enumerate(own):
        key = candidates[n].result.key
        share[key] = share.get(key, 0.0) + chance
        if key not in best or chance > own[best[key]]:
            best[key] = n
    # that nothing meets the conditions, and that the graph does not say it, are both no answer
    met_by_none = share.pop(frozenset(), 0.0)
    order = sorted(share, key=lambda key: -share[key])
    most = share[order[0]] if order else 0.0
    if no_form + met_by_none >= most:
        none = Candidate("", Source.NONE, form_calibration.confidence(no_form + met_by_none))
        empty, near = None, None
        if met_by_none > no_form:
            empty = _reading(facts, candidates[best[frozenset()]], met_by_none)
        elif most >= NEAR:
            near = _reading(facts, candidates[best[order[0]]], most)
        evidence = Evidence(interpretation=empty, near=near)
        return ComputedAnswer(none, evidence, others=_candidates(facts, candidates, best, share, order))
    first = candidates[best[order[0]]]
    others = [_reading(facts, candidates[best[key]], share[key]) for key in order[1 : MAX_READINGS + 1]]
    sure = form_calibration.confidence(share[order[0]])
    made = _answer(state, facts, first, sure, tuple(r for r in others if r.probability >= NEAR))
    left = _candidates(facts, candidates, best, share, order[1:])
    return replace(made, others=(*left, Candidate("", Source.NONE, no_form + met_by_none)))


def _candidates(
    facts: GraphFacts,
    candidates: Sequence[RankedForm],
    best: Mapping[object, int],
    share: Mapping[object, float],
    results: Sequence[object],
) -> tuple[Candidate, ...]:
    """Denotations as candidates of the answer, most probable first."""
    worded = ((_answer_text(facts, candidates[best[key]]), share[key]) for key in results[:MAX_OTHERS])
    return tuple(Candidate(text, Source.KNOWLEDGE, chance) for text, chance in worded if text)


def _reading(facts: GraphFacts, candidate: RankedForm, probability: float) -> Interpretation:
    """The interpretation reported with an answer."""
    return Interpretation(
        candidate.interpretation,
        _answer_text(facts, candidate),
        NameLookup(facts).show(candidate.form),
        probability,
    )


def _answer_text(facts: GraphFacts, candidate: RankedForm) -> str:
    """The result of a form as text."""
    return ", ".join(_texts(facts, candidate)[:MAX_SHOWN])


def _texts(facts: GraphFacts, candidate: RankedForm) -> list[str]:
    """The denotation of a form as texts: the labels of an entity set, each once, or the text of a value."""
    if not candidate.result.is_set:
        return [candidate.result.text]
    return list(dict.fromkeys(_labelled(facts, candidate).values()))


def _labelled(facts: GraphFacts, candidate: RankedForm) -> dict[int, str]:
    """The label of each entity that a form denotes, with its unit; unlabelled ones are left out."""
    said, members = Verbalizer(facts), candidate.result.members
    labels = facts.described(members)
    return {e: said.with_unit(e, text, candidate.form, members[e]) for e, text in labels.items() if text}


def _answer(
    state: QAState, facts: GraphFacts, candidate: RankedForm, sure: float, others: tuple[Interpretation, ...]
) -> ComputedAnswer:
    """The answer that a form denotes: entities (or a value), with the facts of each as an evidence path."""
    graph, result = facts.graph, executed(facts, candidate.form, candidate.result)
    assert result is not None
    candidate = candidate._replace(result=result)
    texts, labelled = _texts(facts, candidate), _labelled(facts, candidate)
    ends = list(labelled)
    paths = [result.members[e] for e in ends] if result.is_set else list(result.facts)
    shown = paths[:MAX_SHOWN]
    subgraph = with_facts(
        state.subgraphs[0] if state.subgraphs else Subgraph(), graph, [row for path in shown for row in path]
    )
    edges = [tuple(edge_of(subgraph, graph, row) for row in path) for path in shown]
    # a value, such as a count, has no end node to orient the path by
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
        interpretation=_reading(facts, candidate, sure),
        other_interpretations=others,
    )
    items: tuple[Item, ...] = ()
    if len(texts) > 1:
        own = [*found, *(None for _ in ends[len(found) :])]
        named = zip(labelled.values(), names, own, strict=False)
        items = tuple(Item(text, name, path=path) for text, name, path in named)
    return ComputedAnswer(best, evidence, items)


def _directions(path: Sequence[FactRow], end: int) -> tuple[bool, ...]:
    """Whether each fact of a path that leads to the entity `end` is followed from head to tail."""
    forward = []
    for row in reversed(path):
        forward.append(row.tail == end)
        end = row.head if row.tail == end else row.tail
    return tuple(reversed(forward))
