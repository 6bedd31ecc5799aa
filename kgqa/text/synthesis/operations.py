"""Questions over made-up worlds that ask for something to be done with facts: looked up, counted, compared, summed.

A question says which relations it runs over and which things it is about; the answer is whatever the exact operation
makes of these, so that no answer is written here.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from kgqa.text.synthesis.asking import filled, how_many, inverted, listed, slipped, yes_no
from kgqa.text.synthesis.inflection import plural
from kgqa.text.synthesis.valued import Scale, ValuedWorld, read_wordings
from kgqa.text.synthesis.worlds import LITERALS, TYPE, Fact, RelationKind, vocabulary
from kgqa.types import OPERATIONS, Passage, Question, Triple

_ADDED = frozenset("minutes number money weight years length area size".split())  # noqa: SIM905
"""Values that can be added up."""
QUESTIONS = 20
"""Of a world."""


class Meant(NamedTuple):
    """A way that is right: its relations in order, the last ones those of its scale, and the labels of its things."""

    relations: tuple[str, ...]
    things: frozenset[str]


class Posed(NamedTuple):
    """A question with the operation it asks for and the ways that are right; none where the graph does not tell."""

    question: Question
    operation: str
    meant: tuple[Meant, ...]


class OperationWorld(NamedTuple):
    """A graph as facts between labels, and what is asked of it."""

    triples: tuple[Triple, ...]
    posed: tuple[Posed, ...]


def operation_worlds(count: int, seed: int) -> Iterator[OperationWorld]:
    """So many made-up worlds with questions of all operations; the same ones for one seed."""
    for number in range(count):
        yield _Asker(random.Random(f"operations/{seed}/{number}")).world(f"operations{seed}-{number}")


class _Asker(ValuedWorld):
    """One world in the making, and questions about it."""

    def world(self, name: str) -> OperationWorld:
        """The facts, and up to `QUESTIONS` questions."""
        self._state_facts()
        self._keep_records()
        self.struck = [fact for fact in self.facts if self.rng.random() < 0.1]
        self.facts = [fact for fact in self.facts if fact not in self.struck]
        triples = self._graph()
        posed = []
        for number, (text, passage, operation, meant) in enumerate(self._pose()):
            said = self._carried(text)
            about = Passage(passage) if passage else None
            posed.append(Posed(Question(said, (), about, f"{name}-{number}"), operation, tuple(meant)))
        return OperationWorld(triples, tuple(posed))

    def _pose(self) -> Iterator[tuple[str, str, str, list[Meant]]]:
        rng = self.rng
        forms: dict[Callable[[Fact], Any], int] = {
            self._tail: 20,
            self._head: 12,
            self._two: 20,
            self._of_kind: 3,
            self._count: 11,
            self._whether: 13,
            self._extreme: 14,
            self._less: 8,
            self._difference: 6,
            self._sum: 6,
            self._lacking: 6,
        }
        made = 0
        for _ in range(6 * QUESTIONS):
            fact = rng.choice(self.struck if self.struck and rng.random() < 0.2 else self.facts)
            (form,) = rng.choices(list(forms), weights=list(forms.values()))
            if (found := form(fact)) is None:
                continue
            text, operation, meant = found[:3]
            passage = found[3] if len(found) > 3 else ""
            yield text, passage, operation, [m for m in meant if m.things]
            made += 1
            if made == QUESTIONS:
                return

    def _meant_tails(self, fact: Fact) -> list[Meant]:
        kind = fact.kind
        ahead = frozenset(f.tail for f in self.facts if f.kind is kind and f.head == fact.head)
        found = [Meant(self._relations(kind), ahead)]
        if kind.head == kind.tail and not kind.ask_head:  # friends, neighbours: told of either
            found.append(Meant(self._relations(kind, back=True), frozenset(self._heads(kind, fact.head))))
        return [meant for meant in found if meant.things]

    def _meant_heads(self, fact: Fact) -> list[Meant]:
        return [Meant(self._relations(fact.kind, back=True), frozenset(self._heads(fact.kind, fact.tail)))]

    def _tail(self, fact: Fact) -> Any:
        rng, kind = self.rng, fact.kind
        if kind.tail == "truth":
            return self._whether(fact)
        roles = self._roles(kind)
        text = self._wording(kind, kind.ask_tail)
        if rng.random() < 0.06:  # of somebody that nobody knows
            return text.format(h=self._new(kind.head)), _operation(text), []
        if roles and rng.random() < 0.4:
            role = rng.choice(roles)
            text = rng.choice(self.wordings["list_role"]).format(role=role, roles=plural(role), h="{h}")
        if rng.random() < 0.07:
            passage = (
                f"{rng.choice(self.names['first'])} was reading about {fact.head} when the telephone rang."
            )
            return text.format(h=f"this {kind.head}"), _operation(text), self._meant_tails(fact), passage
        return text.format(h=fact.head), _operation(text), self._meant_tails(fact)

    def _lacking(self, fact: Fact) -> Any:
        """What this graph tells of nothing."""
        all_kinds = [*vocabulary()[0], *read_wordings()[0]]
        kind = self.rng.choice([k for k in all_kinds if k.head == fact.kind.head] or [fact.kind])
        called = {words for own in self.kinds for words in own.words}
        if called & set(kind.words):
            return None
        text = self.rng.choice(kind.ask_tail)
        return text.format(h=fact.head), "exists" if kind.tail == "truth" else _operation(text), []

    def _head(self, fact: Fact) -> Any:
        kind = fact.kind
        if not kind.ask_head or kind.tail in LITERALS:
            return None
        text = self._wording(kind, kind.ask_head)
        told = self._clause(kind, fact.tail)
        if told and self.rng.random() < 0.5:
            text = self.rng.choice(self.wordings["list_some"])
            text = filled(text, kind=kind.head, clause=told)
        elif (match := re.fullmatch(r"What (do|does|did) (.*)", text)) and self.rng.random() < 0.5:
            text = f"Which {self.rng.choice((kind.head, plural(kind.head)))} {match[1]} {match[2]}"
        return text.format(t=fact.tail), "lookup", self._meant_heads(fact)

    def _two(self, fact: Fact) -> Any:
        if id(fact.kind) in self.records or fact in self.struck:
            return None
        described = self._described(fact)
        self.rng.shuffle(described)
        for middle, thing in described:
            onward = [f for f in self.facts if f.head == thing and f is not fact and f.kind is not fact.kind]
            onward = [f for f in onward if id(f.kind) not in self.records]
            if onward:
                second = self.rng.choice(onward).kind
                text = self._wording(second, second.ask_tail)
                relations = (*self._relations(fact.kind), *self._relations(second))
                operation = "exists" if second.tail == "truth" else _operation(text)
                meant = Meant(relations, frozenset(self._tails(second, thing)))
                return text.format(h=middle), operation, [meant]
        return None

    def _of_kind(self, fact: Fact) -> Any:
        """What a thing is, which things of a kind there are, and how many."""
        kind = fact.kind.head
        if not self.says_kinds or fact in self.struck:
            return None
        stated = self._stated()
        members = frozenset(thing for thing in self.things[kind] if thing in stated)
        form = self.rng.random()
        if form < 0.3:
            asked = (
                "What kind of thing is {h}?",
                "What is {h}?",
                "What sort of thing is {h}?",
                "{h} is a what?",
            )
            meant = Meant((TYPE,), frozenset([self._kind_name(kind)]))
            return self.rng.choice(asked).format(h=fact.head), "lookup", [meant]
        table = "members" if form < 0.75 else "list_members"
        text = filled(self.rng.choice(self.wordings[table]), kind=kind)
        return text, "count" if table == "members" else "lookup", [Meant((TYPE,), members)]

    def _count(self, fact: Fact) -> Any:
        rng, kind = self.rng, fact.kind
        if kind.tail in LITERALS or (fact not in self.struck and rng.random() < 0.25):
            return self._of_kind(fact)
        several = [f for f in self.facts if f.kind is kind and len(self._tails(kind, f.head)) > 1]
        roles = self._roles(kind)
        if roles and (several or rng.random() < 0.3):
            chosen = rng.choice(several) if several else fact
            roles_said = plural(rng.choice(roles))
            text = rng.choice(self.wordings["count_role"]).format(roles=roles_said, h=chosen.head)
            return text, "count", self._meant_tails(chosen)
        told = self._clause(kind, fact.tail)
        texts = [how_many(asked, kind.head) for asked in kind.ask_head]
        some = rng.sample(self.wordings["count_some"], 2 if told else 0)
        texts += [filled(wording, kind=kind.head, clause=told) for wording in some]
        texts = [text for text in texts if text]
        return (rng.choice(texts).format(t=fact.tail), "count", self._meant_heads(fact)) if texts else None

    def _whether(self, fact: Fact) -> Any:
        rng, kind = self.rng, fact.kind
        truths = [f for f in self.facts if f.kind.tail == "truth"]
        if kind.tail == "truth" or (truths and rng.random() < 0.3):
            fact = fact if kind.tail == "truth" else rng.choice(truths)
            return rng.choice(fact.kind.ask_tail).format(h=fact.head), "exists", self._meant_tails(fact)
        if kind.tail in LITERALS:
            return None
        asked = fact.tail
        if rng.random() < 0.5:
            asked = rng.choice(self.things[kind.tail])
        roles = self._roles(kind)
        texts = [text for words in kind.words if (text := yes_no(words))]
        if roles:
            said = rng.sample(self.wordings["exists_role"], 2)
            texts += [wording.format(role=rng.choice(roles), h="{h}", t="{t}") for wording in said]
        if not texts or asked == fact.head:
            return None
        meant = self._meant_tails(fact) + self._meant_heads(fact._replace(tail=asked))
        return rng.choice(texts).format(h=fact.head, t=asked), "exists", meant

    def _extreme(self, fact: Fact) -> Any:
        """Which of all, of some, of three or of two has the least or most."""
        rng = self.rng
        if (scale := self._scale(fact)) is None:
            return None
        kind = scale[0]
        operation = rng.choice(("least", "most"))
        phrases = [phrase for phrase in self._phrases(scale[1], operation) if "/" in phrase]
        if not phrases:
            return None
        comp, _, sup = rng.choice(phrases).partition("/")
        said = {"sup": sup, "comp": comp, "kind": kind.head, "noun": rng.choice(scale[1].nouns)}
        valued = self._valued(kind)
        form = rng.random()
        if form < 0.45:
            tables = [
                "of_all",
                *(["of_all_is"] * sup.startswith("is the ")),
                *(["of_noun"] * (rng.random() < 0.3)),
            ]
            table: Any = self.wordings[rng.choice(tables)]
            text = rng.choice(table[operation] if isinstance(table, dict) else table)
            text = filled(text, **said, super=sup.removeprefix("is the "))
            return text, operation, [Meant(self._relations(kind), frozenset(valued))]
        if form < 0.6:
            some = self._some(kind)
            if some is None:
                return None
            told, first, things = some
            text = filled(rng.choice(self.wordings["of_some"]), **said, clause=told)
            meant = Meant((*first, *self._relations(kind)), frozenset(things))
            return text, operation, [meant]
        count = 3 if form < 0.68 else 2
        if len(valued) < count:
            return None
        named = rng.sample(valued, count)
        said |= {"a": named[0], "b": named[1], "all": listed(named, "and"), "or": listed(named, "or")}
        table = "of_three" if count == 3 else "of_two"
        if count == 2 and comp.startswith("is ") and rng.random() < 0.4:
            table = "of_two_is"
        text = filled(rng.choice(self.wordings[table]), **said, adjective=comp.removeprefix("is "))
        return text, operation, [Meant(self._relations(kind), frozenset(named))]

    def _less(self, fact: Fact) -> Any:
        pair = self._pair(fact)
        if pair is None:
            return None
        kind, scale, named = pair
        operation = self.rng.choice(("less", "more"))
        if not (phrases := self._phrases(scale, operation)):
            return None
        comp = self.rng.choice(phrases).partition("/")[0]
        table = "whether_before" if "{b}" in comp else "whether"
        comp = comp.format(b=named[1])
        does, rest = inverted(comp)
        said = {"a": named[0], "b": named[1], "comp": comp, "does": does, "rest": rest, "kind": kind.head}
        text = filled(self.rng.choice(self.wordings[table][: None if self.rng.random() < 0.5 else 3]), **said)
        return text, operation, self._meant_pair(kind, named)

    def _difference(self, fact: Fact) -> Any:
        pair = self._pair(fact)
        if pair is None or pair[0].tail == "time":
            return None
        kind, scale, named = pair
        comp = self.rng.choice([p for p in scale.more if "/" in p]).partition("/")[0]
        tables = ["difference"]
        if kind.tail in ("date", "year"):
            tables = ["difference_dates"]
        elif comp.startswith("is "):
            tables.append("difference_is")
        text = self.rng.choice(self.wordings[self.rng.choice(tables)])
        if "{adjective}" in text and not comp.startswith("is "):
            return None
        said = {"a": named[0], "b": named[1], "adjective": comp.removeprefix("is "), "kind": kind.head}
        text = filled(text, **said, noun=self.rng.choice(scale.nouns))
        return text, "difference", self._meant_pair(kind, named)

    def _sum(self, fact: Fact) -> Any:
        if (scale := self._scale(fact)) is None or scale[0].tail not in _ADDED:
            return None
        rng, kind, valued = self.rng, scale[0], self._valued(scale[0])
        form = rng.random()
        first: tuple[str, ...] = ()
        if form < 0.4 and self.says_kinds:
            named, said = valued, filled(rng.choice(self.wordings["every"]), kind=kind.head)
        elif form < 0.6:
            some = self._some(kind)
            if some is None:
                return None
            told, first, named = some
            said = f"the {plural(kind.head)} {told}"
        else:
            if len(valued) < 3:
                return None
            named = rng.sample(valued, rng.choice((2, 2, 3)))
            said = listed(named, "and")
        text = filled(rng.choice(self.wordings["sum"]), all=said, noun=rng.choice(scale[1].nouns))
        return text, "sum", [Meant((*first, *self._relations(kind)), frozenset(named))]

    # parts of questions

    def _pair(self, fact: Fact) -> tuple[RelationKind, Scale, list[str]] | None:
        """Two things to be compared; now and then one of them has no value that is stated."""
        if (found := self._scale(fact)) is None:
            return None
        kind, scale = found
        lacking = [f.head for f in self.struck if f.kind is kind and f.head not in self._valued(kind)]
        named = self.rng.sample(self._valued(kind), 2)
        if lacking and self.rng.random() < 0.3:
            named[self.rng.randint(0, 1)] = self.rng.choice(lacking)
        return kind, scale, named

    def _meant_pair(self, kind: RelationKind, named: Sequence[str]) -> list[Meant]:
        known = set(named) <= set(self._valued(kind))
        return [Meant(self._relations(kind), frozenset(named))] if known else []

    def _carried(self, text: str) -> str:
        style = self.rng.random()
        if style < 0.07:
            carrier = "" if style < 0.004 else self.rng.choice(self.wordings["carriers"])
            return carrier.format(q=text) if carrier else text.upper()
        if style < 0.10:
            return slipped(text, self.rng)
        return self._typed(text)


def _operation(text: str) -> str:
    return "count" if re.match(r"how many\b", text, re.IGNORECASE) else OPERATIONS[0]
