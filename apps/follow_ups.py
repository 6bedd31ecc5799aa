"""Follow-up questions, each answered by a fact of the graph. No Streamlit."""

from __future__ import annotations

import re

from kgqa.graph.linking.normalize import people
from kgqa.graph.relation_types import RelationType, is_type_relation, is_vague, relation_types
from kgqa.graph.suggested_questions import is_date_literal
from kgqa.language.detect import ENGLISH, KOREAN, question_language
from kgqa.language.values import with_unit
from kgqa.qa.evidence import answer_nodes
from kgqa.types import NO, YES, Answer, Relation
from kgqa.verbalize.fact_sentences import as_type
from kgqa.verbalize.inflection import with_article
from kgqa.verbalize.korean import korean_question
from kgqa.verbalize.questions import QuestionWording, relation_question

COUNT = 3
_ENDLESS = re.compile(r"\b(?:no|not|cannot|than)\b")
"""Relations with far more tails than are stated: what a thing is not, what it is heavier than."""
PERIODS = frozenset({"year", "month", "week", "day", "percent", "%"})
"""Words at the end of a relation's label that look like units but are part of it: a birth year."""


def follow_ups(answer: Answer, wording: QuestionWording, count: int = COUNT) -> list[str]:
    """At most `count` questions that are answered by facts of the subgraph, first about the answer, then about the
    runners-up; none from the facts that led to the answer, none that asks the same again, and none of or for what many
    things are (wet, huge).

    None in a language that no question is worded in: its labels would stand in a sentence of the page's language.
    """
    if question_language(answer.question.text, answer.question.passage_text) not in (ENGLISH, KOREAN):
        return []
    graph = answer.evidence.subgraph
    distractors = [graph.nodes.index(c.concept) for c in answer.candidates if c.concept in graph.nodes]
    shown = {step for path in answer.evidence.paths for step in path.steps}
    on_path = sorted({int(graph.edges[step, side]) for step in shown for side in (0, 2)})
    named = [*sorted(answer_nodes(answer)), *distractors]
    order = on_path if answer.text in (YES, NO) else list(dict.fromkeys(named))
    of_many = [RelationType.QUALITY in relation_types(relation) for relation in graph.relations]
    adjectives = {tail for _, number, tail in graph.edges.tolist() if of_many[number]}
    rows = [(order.index(h), row) for row, (h, _, _) in enumerate(graph.edges.tolist()) if h in order]
    found: dict[tuple[int, int], str] = {}
    for _, row in sorted(rows):
        head, number, tail = graph.edges[row].tolist()
        relation, name, label = graph.relations[number], graph.nodes[tail], graph.labels[tail]
        if row in shown or (head, number) in found or is_type_relation(relation) or is_vague(relation):
            continue
        if of_many[number] or head in adjectives:
            continue
        if _ENDLESS.search(relation.words or relation.label):
            continue
        asked = wording(relation, graph.labels[head], is_date_literal(name), bool(people(label)))
        if asked not in ("", answer.question.text, *found.values()):
            found[head, number] = asked
        if len(found) == count:
            break
    return list(found.values())


def wording(language: str) -> QuestionWording:
    """The function that words questions for facts in a language."""
    return in_korean if language == KOREAN else in_english


def in_english(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """A question for the tail of a relation; common nouns get an article, actions become gerunds ("opening the
    hive")."""
    relation = without_unit(relation)
    if about.islower() and about.replace(" ", "").isalpha():
        about = deed if (deed := as_type(about)) != about else with_article(about)
    return relation_question(relation, about, dated, person)


def in_korean(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """The same in Korean."""
    return korean_question(without_unit(relation), about, dated, person)


def without_unit(relation: Relation) -> Relation:
    """The label without its unit, as people ask for it: the price, not the price euros."""
    words = relation.label.split()
    measures = with_unit("1", '"1"', relation) != "1" and words[-1].lower() not in PERIODS
    if not measures:
        return relation
    kept = words[:-2] if words[-2] == "in" and len(words) > 2 else words[:-1]
    return Relation(relation.name, " ".join(kept))
