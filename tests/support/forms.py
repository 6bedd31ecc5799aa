"""Small graphs for logical forms, and what a question mentions and asks for over one."""

from __future__ import annotations

from collections.abc import Iterable

from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex, NameLookup
from kgqa.qa.logical_forms.language import Form
from kgqa.qa.logical_forms.mentions import QuestionMentions, question_mentions
from kgqa.qa.logical_forms.rank import MAX_READ, RankedForm, shortlist
from kgqa.types import Label, Question, Triple

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def triples_of(facts: str) -> list[Triple]:
    """A fact a line: head, relation and tail between bars."""
    rows = (line.split("|") for line in facts.strip().splitlines())
    return [Triple(head, relation, tail) for head, relation, tail in rows]


def names_of(facts: str | Iterable[Triple], labels: Iterable[Label] = ()) -> NameLookup:
    """A graph of some facts, with the names by which forms call what is in it."""
    triples = triples_of(facts) if isinstance(facts, str) else facts
    return NameLookup(GraphFacts(GraphStore.from_triples(triples, labels=labels)))


def mentions_of(facts: GraphFacts, question: str) -> QuestionMentions:
    """What a question mentions."""
    return question_mentions(facts, fuzzy_linker(facts.graph), GraphIndex(facts.graph), Question(question))


def forms_of(facts: GraphFacts, question: str) -> list[Form]:
    """All forms that are enumerated for a question."""
    return Enumerator(facts, mentions_of(facts, question), GraphIndex(facts.graph).classes).forms()


def ranked(facts: GraphFacts, question: str, most: int = MAX_READ) -> list[RankedForm]:
    """The shortlist of a question, best first."""
    return shortlist(facts, mentions_of(facts, question), forms_of(facts, question), most=most)
