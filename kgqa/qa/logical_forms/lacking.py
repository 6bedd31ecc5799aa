"""What a question may ask for although the mentioned entity lacks it: relations that others of its class have.

They are verbalized like candidate forms ("when Fault 305 was repaired"), and the reader scores them together with
these: if one of them matches the question best, no form fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kgqa.qa.logical_forms.execute import hops_of
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.language import Class, Entities, Join
from kgqa.qa.logical_forms.mentions import QuestionMentions, asks_truth, rest_of
from kgqa.qa.logical_forms.verbalize import Verbalizer

MAX_LACKING = 6
"""Maximum number of phrases."""


def lacking(
    facts: GraphFacts,
    asked: QuestionMentions,
    similarity: Callable[[str, Sequence[str]], Sequence[float]] | None = None,
) -> list[str]:
    """Phrases of the relations that the longest mention lacks, the most similar to the question first."""
    things = [m for m in asked.mentions if m.start >= 0 and not all(map(facts.is_class, m.entities))]
    things = [m for m in things if not facts.is_value(m.entities[0])]
    if facts.graph.is_remote or asks_truth(asked.text) or not things:
        return []
    longest = max(things, key=lambda mention: mention.end - mention.start)
    labels = dict(_lacking(facts, longest.entities[0]))
    if similarity is None or len(labels) <= MAX_LACKING:
        return list(labels)[:MAX_LACKING]
    near = dict(zip(labels, similarity(rest_of(asked), list(labels.values())), strict=True))
    return sorted(labels, key=lambda phrase: (-near[phrase], phrase))[:MAX_LACKING]


def _lacking(facts: GraphFacts, thing: int) -> Iterator[tuple[str, str]]:
    """Phrases and labels of relations that other instances of an entity's classes have."""
    verbalizer, own = Verbalizer(facts), {step for step, _, _ in facts.onward(thing)}
    for kind in facts.classes(thing):
        try:
            hops = hops_of(facts, Class((kind,)))
        except TooManyFacts:
            continue
        for step, edges in hops.items():
            if step.forward and step not in own and not facts.is_type(step.relation):
                # verbalized for an entity that has the relation: phrases with a date differ from those with a name
                other = Entities((int(edges.head[0]),))
                relation, phrase = (
                    facts.graph.relations[step.relation],
                    verbalizer.phrase(Join((step,), other)),
                )
                yield (
                    phrase.replace(verbalizer.noun(other), verbalizer.noun(Entities((thing,)))),
                    relation.label or relation.words,
                )
