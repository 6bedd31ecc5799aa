"""What a question may ask for although the mentioned entity lacks it: relations that others of its class have, or that
the question names, and the opposites of its own.

They are verbalized like candidate forms ("when Fault 305 was repaired"), and the reader scores them together with
these: if one of them matches the question best, no form fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from kgqa.language.overlap import overlap
from kgqa.qa.logical_forms.execute import hops_of
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.language import Class, Entities, Hop, Join
from kgqa.qa.logical_forms.mentions import QuestionMentions, has_more_content, rest_of
from kgqa.qa.logical_forms.operators import asks_truth, opposed, with_opposite
from kgqa.qa.logical_forms.verbalize import Verbalizer

MAX_LACKING = 6
"""Maximum number of phrases."""
NAMED = 2.0
"""Added to the reader's score of a relation if the question names it and says nothing else: forms with such a relation
are preferred, too."""


def lacking(
    facts: GraphFacts,
    asked: QuestionMentions,
    similarity: Callable[[str, Sequence[str]], Sequence[float]] | None = None,
) -> dict[str, float]:
    """Phrases of the relations that the longest mention lacks, the most similar to the question first, each with what
    is added to its score."""
    things = [m for m in asked.mentions if m.start >= 0 and not all(map(facts.is_class, m.entities))]
    things = [m for m in things if not facts.is_value(m.entities[0])]
    if facts.graph.is_remote or asks_truth(asked.text) or not things:
        return {}
    longest = max(things, key=lambda mention: mention.end - mention.start)
    thing, rest = longest.entities[0], rest_of(asked)
    own = dict(_lacking(facts, thing))
    labels = own | {
        phrase: label for phrase, label in _others(facts, asked, thing) if label not in own.values()
    }
    is_named = {phrase: _only_names(asked, thing, label) for phrase, label in labels.items()}
    phrases = list(labels)
    if similarity is not None and len(labels) > MAX_LACKING:
        near = dict(zip(labels, similarity(rest, list(labels.values())), strict=True))
        phrases.sort(key=lambda phrase: (not is_named[phrase], -near[phrase], phrase))
    found = dict.fromkeys(_opposites(facts, thing, rest), 0.0)
    found |= {phrase: NAMED * is_named[phrase] for phrase in phrases}
    return dict(islice(found.items(), MAX_LACKING))


def _opposites(facts: GraphFacts, thing: int, question: str) -> Iterator[str]:
    """Phrases of the opposites of an entity's relations: "when the fair ends" if it says when it starts, and if that is
    asked."""
    steps = dict.fromkeys(step for step, _, _ in facts.onward(thing) if step.forward)
    known = {step: facts.graph.relations[step.relation] for step in steps}
    texts = {step: f"{relation.label} {relation.words}" for step, relation in known.items()}
    if opposed(question, " ".join(texts.values())):
        for step, text in texts.items():
            if opposed(question, text):
                yield with_opposite(question, Verbalizer(facts).phrase(Join((step,), Entities((thing,)))))


def _only_names(asked: QuestionMentions, thing: int, label: str) -> bool:
    """Whether a question names a relation and says nothing else about an entity."""
    return overlap(rest_of(asked), label) > 0 and not has_more_content(asked, [thing], label)


def _others(facts: GraphFacts, asked: QuestionMentions, thing: int) -> Iterator[tuple[str, str]]:
    """Phrases and labels of named relations that an entity does not have: "what the bridge is operated by" where
    tunnels are operated by somebody. None if it has one of that name, as a restored vase where a restoration has a
    restorer."""
    own = {step.relation for step, _, _ in facts.onward(thing)}
    if any(overlap(rest_of(asked), facts.graph.relations[number].label) for number in own):
        return
    for number, relation in enumerate(facts.graph.relations):
        label = relation.label or relation.words
        if number not in own and not facts.is_type(number) and _only_names(asked, thing, label):
            yield Verbalizer(facts).phrase(Join((Hop(number),), Entities((thing,)))), label


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
