"""Synthetic knowledge graphs: small graphs with invented names, and questions that only their facts answer.

From one graph that never changes a reader mostly learns co-occurrence. In a graph that is drawn anew each time only
the facts help; reading comprehension masks or renames entities for the same reason (Hermann et al., 2015, section 2.1).
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from kgqa.types import Example, Passage, Question, Triple

LITERALS = frozenset(
    "date year minutes number money weight years length area speed dose distance time size code truth".split()  # noqa: SIM905
)
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_SUBJECT = re.compile(r"(Who|Which (\w+)) (?!(?:is|are|was|were) \{|(?:do|does|did|has|have)\b)([^?]+)\?")
"""Questions for the subject; `as_clause` turns them into "the person who directed Solaris", "the firm that makes
Lirado"."""
_FILE = Path(__file__).with_suffix(".toml")
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_PASSAGES = (
    "{o} was talking about {h} yesterday.",
    "On the way home {o} read something about {h} and wanted to know more.",
    "{o} and a friend met in a cafe. They spoke for an hour, mostly about {h}. Then it began to rain.",
    "There is a note on the table: remember {h}. {o} put it there this morning.",
)


class RelationTemplate(NamedTuple):
    """Templates of a relation between two types of entities: its labels and the wordings of questions."""

    head: str
    tail: str
    words: tuple[str, ...]
    ask_tail: tuple[str, ...]
    ask_head: tuple[str, ...]


class SyntheticGraph(NamedTuple):
    """A synthetic graph: facts between labels, and questions about it."""

    triples: tuple[Triple, ...]
    examples: tuple[Example, ...]


class SyntheticFact(NamedTuple):
    """A fact of a synthetic graph."""

    kind: RelationTemplate
    head: str
    tail: str


def synthetic_graphs(count: int, seed: int) -> Iterator[SyntheticGraph]:
    """Generate synthetic graphs, reproducibly for a seed."""
    for number in range(count):
        yield SyntheticGraphMaker(random.Random(f"worlds/{seed}/{number}")).make(f"world{seed}-{number}")


@lru_cache(maxsize=1)
def synthetic_vocabulary() -> tuple[list[RelationTemplate], dict[str, list[str]], dict[str, list[str]]]:
    """Relation templates, words that serve as values by type, and the parts of invented names."""
    data: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    split = {
        table: {name: [word.strip() for word in text.split(",")] for name, text in data[table].items()}
        for table in ("words", "names")
    }
    kinds = [RelationTemplate(head, tail, *map(tuple, lists)) for head, tail, *lists in data["relations"]]
    return kinds, split["words"], split["names"]


class SyntheticGraphMaker:
    """Builds one synthetic graph."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        kinds, self.words, self.names = synthetic_vocabulary()
        self.kinds = self._choose(kinds)
        self.taken: set[str] = set()
        self.things: dict[str, list[str]] = defaultdict(list)
        # the label of each relation in this graph, and whether the graph has its inverse instead
        chosen = {id(kind): rng.choice(kind.words) for kind in self.kinds}
        self.wording = {
            kind: (words.removeprefix("<"), words.startswith("<")) for kind, words in chosen.items()
        }
        self.facts: list[SyntheticFact] = []
        # how values are stored: typed as in RDF, or as plain text
        self.typed = rng.random() < 0.6
        self.values: dict[str, str] = {}
        self.says_kinds = rng.random() < 0.6

    def make(self, name: str) -> SyntheticGraph:
        self._state_facts()
        triples = self._graph()
        examples = list(islice(self._questions(), 24))
        numbered = [
            replace(e, question=replace(e.question, id=f"{name}-{i}")) for i, e in enumerate(examples)
        ]
        return SyntheticGraph(triples, tuple(numbered))

    def _graph(self) -> tuple[Triple, ...]:
        """The facts in this graph's labels, and the types of entities if it states them."""
        triples = [self._triple(fact) for fact in self.facts]
        if self.says_kinds:
            stated = {end for fact in self.facts for end in (fact.head, fact.tail)}
            triples += [
                Triple(thing, TYPE, kind)
                for kind, own in self.things.items()
                for thing in own
                if thing in stated
            ]
        self.rng.shuffle(triples)
        return tuple(dict.fromkeys(triples))

    def _triple(self, fact: SyntheticFact) -> Triple:
        words, turned = self.wording[id(fact.kind)]
        tail = self.values.get(fact.tail, fact.tail)
        return Triple(tail, words, fact.head) if turned else Triple(fact.head, words, tail)

    def _choose(self, kinds: list[RelationTemplate]) -> list[RelationTemplate]:
        """Relations among a few connected types of entities."""
        rng = self.rng
        heads = {rng.choice([kind.head for kind in kinds])}
        for _ in range(rng.randint(1, 3)):
            near = [k for k in kinds if k.head in heads or k.tail in heads]
            grown = {t for k in rng.sample(near, min(3, len(near))) for t in (k.head, k.tail)}
            heads |= {t for t in grown if any(k.head == t for k in kinds)}
        able = [kind for kind in kinds if kind.head in heads]
        return rng.sample(able, min(len(able), rng.randint(6, 14)))

    def _state_facts(self) -> None:
        rng = self.rng
        for kind in self.kinds:
            self._grow(kind.head, rng.randint(2, 5))
            if kind.tail not in LITERALS:
                self._grow(kind.tail, rng.randint(3, 6))
        for kind in self.kinds:
            for head in self.things[kind.head]:
                if rng.random() < 0.2:
                    continue
                valued = kind.tail in LITERALS
                several = not valued and rng.random() < 0.15
                for _ in range(rng.randint(2, 3) if several else 1):
                    tail = self._literal(kind.tail) if valued else rng.choice(self.things[kind.tail])
                    if tail != head:
                        self.facts.append(SyntheticFact(kind, head, tail))
        rng.shuffle(self.facts)
        self.facts = list(dict.fromkeys(self.facts))[:120]

    def _grow(self, kind: str, count: int) -> None:
        while len(self.things[kind]) < count:
            self.things[kind].append(self._new(kind))

    def _new(self, kind: str) -> str:
        for _ in range(50):
            name = self._name(kind)
            if name not in self.taken:
                break
        self.taken.add(name)
        return name

    def _name(self, kind: str) -> str:
        rng, names = self.rng, self.names
        if kind in self.words:
            return rng.choice(self.words[kind])
        invented = self._invented()
        if kind in ("person", "patient"):
            return f"{rng.choice(names['first'])} {invented}" if rng.random() < 0.7 else invented
        if kind in ("film", "book", "song", "painting"):
            title = f"{rng.choice(names['adjective'])} {rng.choice(names['noun'])}"
            both = f"{invented} and the {rng.choice(names['noun'])}"
            title = rng.choice([f"The {title.title()}", title.title(), both])
            return title + (f" ({kind})" if rng.random() < 0.1 else "")
        if kind in ("product", "ship", "software", "creature", "planet", "medicine"):
            style = rng.random()
            if style < 0.25 and kind != "creature":
                return f"{invented} {rng.randint(2, 900)}"
            if style < 0.45 and kind == "product":
                return f"{invented} {rng.choice(self.words['thing'])}"
            return invented.lower() if kind == "creature" and style < 0.6 else invented
        if kind == "room":
            return f"room {rng.randint(1, 60)}" if rng.random() < 0.6 else f"{invented} Room"
        if kind == "line":
            return rng.choice([f"Line {rng.randint(1, 30)}", f"{invented} Express"])
        if kind == "river":
            return rng.choice([f"the {invented}", f"{invented} River"])
        if kind == "prize":
            return f"the {invented} Prize"
        if kind == "language":
            return f"{invented}ish"
        if kind == "currency":
            return invented.lower()
        if kind == "dish":
            return rng.choice([f"{invented.lower()} stew", f"{invented.lower()} pie", invented.lower()])
        if kind == "course":
            return rng.choice(names["topic"]) + rng.choice(["", " I", " II", " for Beginners"])
        if kind in names:
            return f"{invented} {rng.choice(names[kind])}"
        return invented

    def _invented(self) -> str:
        rng, names = self.rng, self.names
        middle = rng.choice(names["middle"]) if rng.random() < 0.5 else ""
        return (rng.choice(names["start"]) + middle + rng.choice(names["end"])).capitalize()

    def _literal(self, kind: str) -> str:
        """The display form of a new value; its stored form is kept in `values`."""
        shown, datatype, lexical = self._value(kind)
        if self.typed and datatype:
            self.values[shown] = f'"{lexical}"^^<{_XSD}{datatype}>'
        return shown

    def _value(self, kind: str) -> tuple[str, str, str]:
        """A value's display form, and the datatype and lexical form in which a graph may store it."""
        rng = self.rng
        year = rng.randint(1650, 2025)
        amount = rng.randint(2, 900)
        match kind:
            case "date":
                day, month = rng.randint(1, 28), rng.randint(1, 12)
                return f"{day} {_MONTHS[month - 1]} {year}", "date", f"{year}-{month:02}-{day:02}"
            case "year":
                return str(year), "gYear", str(year)
            case "minutes":
                return f"{rng.randint(5, 240)} minutes", "", ""
            case "money" if self.typed:
                price = f"{amount}.{rng.choice((5, 25, 75, 95))}"
                return price, "decimal", price
            case "money":
                unit = rng.choice(["euros", "dollars", "crowns"])
                return f"{amount}{rng.choice(['', '.50', ',000'])} {unit}", "", ""
            case "weight":
                return f"{amount} {rng.choice(['kg', 'grams', 'tonnes'])}", "", ""
            case "length" if self.typed and rng.random() < 0.5:
                return f"{amount}.5", "double", f"{amount}.5"
            case "length":
                return f"{amount} {rng.choice(['metres', 'km', 'cm'])}", "", ""
            case "years":
                return f"{rng.randint(2, 90)} years", "", ""
        number = rng.randint(2, 99000)
        shown = f"{number:,}" if not self.typed and rng.random() < 0.5 else str(number)
        return shown, "integer", str(number)

    def _questions(self) -> Iterator[Example]:
        rng = self.rng
        facts = rng.sample(self.facts, len(self.facts))
        for number, fact in enumerate(facts):
            kind = rng.choices(
                ("tail", "head", "two-hop", "passage", "missing", "kind"), weights=(33, 17, 25, 9, 15, 3), k=1
            )[0]
            made = getattr(self, f"_ask_{kind.replace('-', '_')}")(fact)
            if made is not None:
                yield made
            if number > 60:
                return

    def _tails(self, kind: RelationTemplate, head: str) -> tuple[str, ...]:
        found = [f.tail for f in self.facts if f.kind is kind and f.head == head]
        if kind.head == kind.tail and not kind.ask_head:  # symmetric: friends, neighbours
            found += [f.head for f in self.facts if f.kind is kind and f.tail == head]
        return tuple(dict.fromkeys(found))

    def _heads(self, kind: RelationTemplate, tail: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f.head for f in self.facts if f.kind is kind and f.tail == tail))

    def _wording(self, kind: RelationTemplate, wordings: tuple[str, ...]) -> str:
        """A random wording of a question; half of the time one that shares no word with the graph's relation label."""
        if self.rng.random() < 0.5:
            known = _beginnings(self.wording[id(kind)][0])
            wordings = tuple(w for w in wordings if not known & _beginnings(w)) or wordings
        return self.rng.choice(wordings)

    def _ask_tail(self, fact: SyntheticFact) -> Example:
        text = self._typed(self._wording(fact.kind, fact.kind.ask_tail).format(h=fact.head))
        tails = self._tails(fact.kind, fact.head)
        kind = "literal" if fact.kind.tail in LITERALS else "several" if len(tails) > 1 else "one-hop"
        return Example(Question(text), concepts=tails, kind=kind)

    def _ask_kind(self, fact: SyntheticFact) -> Example | None:
        """A question for the type of an entity, if the graph states it."""
        if not self.says_kinds or fact.head not in self.things[fact.kind.head]:
            return None
        kinds = tuple(kind for kind, own in self.things.items() if fact.head in own)
        asked = self.rng.choice(("What kind of thing is {h}?", "What is {h}?", "What sort of thing is {h}?"))
        return Example(Question(self._typed(asked.format(h=fact.head))), concepts=kinds, kind="one-hop")

    def _ask_head(self, fact: SyntheticFact) -> Example | None:
        if not fact.kind.ask_head:
            return None
        text = self._typed(self._wording(fact.kind, fact.kind.ask_head).format(t=fact.tail))
        return Example(Question(text), concepts=self._heads(fact.kind, fact.tail), kind="reverse")

    def _ask_two_hop(self, fact: SyntheticFact) -> Example | None:
        """ "Where was the director of Solaris born?", "When was the film that was made by Lem shown?"."""
        described = self._described(fact)
        self.rng.shuffle(described)
        for middle, thing in described:
            onward = [f for f in self.facts if f.head == thing and f is not fact and f.kind is not fact.kind]
            if onward:
                second = self.rng.choice(onward)
                text = self._typed(self._wording(second.kind, second.kind.ask_tail).format(h=middle))
                return Example(Question(text), concepts=self._tails(second.kind, thing), kind="two-hop")
        return None

    def _described(self, fact: SyntheticFact) -> list[tuple[str, str]]:
        """Each end of a fact as described by the other end, where the description is unique."""
        ways: list[tuple[str, str]] = []
        if len(self._tails(fact.kind, fact.head)) == 1 and fact.kind.tail not in LITERALS:
            roles = [role for role in fact.kind.words if is_role(role)][:1]
            forms = [*(f"the {role} of {{h}}" for role in roles), *(f"{{h}}'s {role}" for role in roles)]
            ways += [(form, fact.tail) for form in (*forms, *map(as_clause, fact.kind.ask_tail)) if form]
        if len(self._heads(fact.kind, fact.tail)) == 1 and fact.tail not in self._tails(fact.kind, fact.tail):
            ways += [(form, fact.head) for form in map(as_clause, fact.kind.ask_head) if form]
        return [(form.format(h=fact.head, t=fact.tail), thing) for form, thing in ways]

    def _ask_passage(self, fact: SyntheticFact) -> Example:
        """The passage names the entity, the question says "it"."""
        rng = self.rng
        passage = rng.choice(_PASSAGES).format(h=fact.head, o=rng.choice(self.names["first"]))
        pronoun = f"this {fact.kind.head}"
        text = self._typed(rng.choice(fact.kind.ask_tail).format(h=pronoun))
        return Example(
            Question(text, (), Passage(passage)),
            concepts=self._tails(fact.kind, fact.head),
            kind="with-passage",
        )

    def _ask_missing(self, fact: SyntheticFact) -> Example | None:
        """A question that the graph cannot answer, about an entity of the graph or about another one."""
        rng = self.rng
        if rng.random() < 0.3:
            stranger = self._new(fact.kind.head)
            if fact.kind.head in self.words:
                return None
            text = self._typed(rng.choice(fact.kind.ask_tail).format(h=stranger))
            return Example(Question(text), kind="unanswerable")
        lacking = [
            k
            for k in synthetic_vocabulary()[0]
            if k.head == fact.kind.head and not any(f.kind is k and f.head == fact.head for f in self.facts)
        ]
        if not lacking:
            return None
        # hard negatives: other entities have such a fact, or this entity has a similar one
        own = {f.kind.tail for f in self.facts if f.head == fact.head}
        near = [k for k in lacking if k in self.kinds or k.tail in own]
        kind = rng.choice(near if near and rng.random() < 0.6 else lacking)
        return Example(
            Question(self._typed(rng.choice(kind.ask_tail).format(h=fact.head))), kind="unanswerable"
        )

    def _typed(self, text: str) -> str:
        """A question as people type it: sometimes without capitals or question mark."""
        style = self.rng.random()
        if style < 0.08:
            return text.lower().rstrip("?.")
        return text.rstrip("?") if style < 0.13 else text


def is_role(words: str) -> bool:
    """Whether a relation's label is a noun for a role ("director"), not "directed by" or "kept in"."""
    last = words.split()[-1]
    return (
        not words.startswith("<")
        and len(words.split()) < 3
        and last not in {"by", "in", "on", "at", "to", "of", "with"}
    )


def _beginnings(text: str) -> set[str]:
    """First four letters of the longer words, as a crude stem."""
    return {word[:4] for word in re.findall(r"[a-z]{4,}", text.lower())}


def as_clause(question: str) -> str:
    """A question for the subject as a noun phrase with a relative clause; "" for any other question.

    >>> as_clause("Who directed {h}?"), as_clause("Which firm was started by {t}?"), as_clause("Who did {h} marry?")
    ('the person who directed {h}', 'the firm that was started by {t}', '')
    """
    match = _SUBJECT.fullmatch(question)
    if match is None:
        return ""
    return f"the {match[2]} that {match[3]}" if match[2] else f"the person who {match[3]}"
