"""Made-up worlds with values to be compared, written as all sorts of graphs are, and what their facts are called."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from kgqa.text.synthesis.asking import clause, is_participle, is_verb
from kgqa.text.synthesis.worlds import LITERALS, Fact, RelationKind, WorldMaker, is_role
from kgqa.types import Triple

_BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"
_FILE = Path(__file__).with_name("operations.toml")


class Scale(NamedTuple):
    """Values that can be compared, and what is said of the one that has less of them, or more."""

    head: str
    words: str
    nouns: tuple[str, ...]
    less: tuple[str, ...]
    more: tuple[str, ...]


@lru_cache(maxsize=1)
def read_wordings() -> tuple[list[RelationKind], dict[tuple[str, str], Scale], dict[str, Any]]:
    """Relations beside those of all made-up worlds, scales by type of thing and relation, and wordings of questions."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    kinds = [RelationKind(h, t, tuple(words), tuple(ask), ()) for h, t, words, ask in data["relations"]]
    kinds += [RelationKind(h, "truth", tuple(words), tuple(ask), ()) for h, words, ask in data["truths"]]
    scales = {(h, w): Scale(h, w, *map(tuple, lists)) for h, w, *lists in data["scales"]}
    return kinds, scales, data["wordings"]


class ValuedWorld(WorldMaker):
    """One world in the making. Its graph writes relations in one style, has values in one unit, and now and then tells
    of an event what others tell of a thing itself."""

    def __init__(self, rng: random.Random) -> None:
        more, self.scales, self.wordings = read_wordings()
        super().__init__(rng, more)
        self.says_kinds = rng.random() < 0.75
        self.capital = rng.random() < 0.4
        self.style = rng.choice((_plain, _plain, _camel, _snake, _has))
        self.wording = {key: (self.style(words), turned) for key, (words, turned) in self.wording.items()}
        self.records: dict[int, str] = {}
        self.units: dict[str, str] = {}
        self.struck: list[Fact] = []

    def _grow(self, kind: str, count: int) -> None:
        super()._grow(kind, count + self.rng.randint(0, 2))

    def _value(self, kind: str) -> tuple[str, str, str]:
        rng = self.rng
        number = rng.randint(2, 900)
        unit = {
            "area": "km2 ha",
            "speed": "knots km/h",
            "dose": "mg ml",
            "distance": "km AU",
            "size": "MB kB",
        }
        match kind:
            case "truth":
                value = rng.choice(("true", "false"))
                return ("yes" if value == "true" else "no"), "boolean", value
            case "time":
                clock = f"{rng.randint(4, 22):02}:{rng.choice((0, 5, 10, 15, 30, 40, 45)):02}"
                return clock, "time", f"{clock}:00"
            case "code":
                return (
                    rng.choice((f"{self._invented()} {number}", f"{number}-{rng.randint(100, 999)}")),
                    "",
                    "",
                )
            case _ if kind in unit:
                said = f"{number} {rng.choice(unit[kind].split())}"
                if self.typed:
                    return str(number), "integer", str(number)
                return self._in_one_unit(kind, said), "", ""
        if kind == "length" and self.typed:
            return f"{number}.5", "double", f"{number}.5"
        shown, datatype, lexical = super()._value(kind)
        if kind in ("money", "weight", "length") and not datatype:
            shown = self._in_one_unit(kind, shown)
        return shown, datatype, lexical

    def _in_one_unit(self, kind: str, said: str) -> str:
        """A value in the unit in which this world has such values."""
        number, _, unit = said.partition(" ")
        return f"{number} {self.units.setdefault(kind, unit)}"

    def _keep_records(self) -> None:
        """Some worlds tell of an event, or of another thing between, what others tell of a thing itself."""
        if self.rng.random() > 0.3:
            return
        head = self.rng.choice(self.kinds).head
        own = [kind for kind in self.kinds if kind.head == head and kind.tail != "truth"]
        chosen = self.rng.sample(own, min(len(own), self.rng.randint(1, 3)))
        event = self.rng.choice(("record", "making", "entry", "details", "event", "file"))
        joined = self.style is _plain and self.rng.random() < 0.5
        for kind in chosen:
            words, _ = self.wording[id(kind)]
            self.wording[id(kind)] = (f"{event} {words}" if joined else words, False)
            if not joined:
                self.records[id(kind)] = event

    def _kind_name(self, kind: str) -> str:
        return kind.capitalize() if self.capital else kind

    def _triples(self, fact: Fact) -> list[Triple]:
        if fact.kind.tail == "truth":
            fact = fact._replace(tail=f'"{"true" if fact.tail == "yes" else "false"}"^^<{_BOOLEAN}>')
        (triple,) = super()._triples(fact)
        if event := self.records.get(id(fact.kind)):  # whose words are never turned
            between = f"{event} {sum(map(ord, fact.head)) % 900 + 10}"
            return [Triple(fact.head, self._to_event(event), between), replace(triple, head=between)]
        return [triple]

    def _to_event(self, event: str) -> str:
        return _camel(f"has {event}") if self.style is _has else self.style(f"has {event}")

    def _relations(self, kind: RelationKind, back: bool = False) -> tuple[str, ...]:
        words = self.wording[id(kind)][0]
        event = self.records.get(id(kind))
        own = (self._to_event(event), words) if event else (words,)
        return own[::-1] if back else own

    # how things are called

    def _scale(self, fact: Fact) -> tuple[RelationKind, Scale] | None:
        """A relation of this world to values that are compared: that of a fact, else any."""
        able = [k for k in self.kinds if (k.head, k.words[0]) in self.scales and len(self._valued(k)) > 1]
        kind = fact.kind if fact.kind in able else self.rng.choice(able) if able else None
        return None if kind is None else (kind, self.scales[kind.head, kind.words[0]])

    def _valued(self, kind: RelationKind) -> list[str]:
        return list(dict.fromkeys(fact.head for fact in self.facts if fact.kind is kind))

    def _phrases(self, scale: Scale, operation: str) -> list[str]:
        """What is said of what has least or most by this scale, and by no other of this world."""
        near = [self.scales[key] for k in self.kinds if (key := (k.head, k.words[0])) in self.scales]
        near = [other for other in near if other.head == scale.head and other is not scale]
        taken = {phrase for other in near for phrase in (*other.less, *other.more)}
        said = scale.less if operation in ("least", "less") else scale.more
        return [phrase for phrase in said if phrase not in taken]

    def _some(self, kind: RelationKind) -> tuple[str, tuple[str, ...], list[str]] | None:
        """Things of a type that one fact joins to something: in words, the relation, and those that have a value."""
        valued = set(self._valued(kind))
        joined = [f for f in self.facts if f.kind.head == kind.head and f.kind.tail not in LITERALS]
        self.rng.shuffle(joined)
        for fact in joined[:8]:
            things = [head for head in self._heads(fact.kind, fact.tail) if head in valued]
            told = self._clause(fact.kind, fact.tail)
            if len(things) > 1 and told and id(fact.kind) not in self.records:
                return told, self._relations(fact.kind, back=True), things
        return None

    def _roles(self, kind: RelationKind) -> list[str]:
        """Nouns for what the tail is to the head, others than the graph's where there are some."""
        if kind.tail in LITERALS and kind.tail != "code":
            return []
        graph = self.wording.get(id(kind), ("", False))[0].lower()
        nouns = [w for w in kind.words if is_role(w) and not is_verb(w) and not is_participle(w)]
        return [w for w in nouns if w not in graph] or nouns

    def _clause(self, kind: RelationKind, tail: str) -> str:
        """Which of all such things are meant, told by what a fact joins them to."""
        clauses = [said for words in kind.words if (said := clause(words))]
        return self.rng.choice(clauses).format(t=tail) if clauses else ""


def _plain(words: str) -> str:
    return words


def _camel(words: str) -> str:
    first, *rest = words.split()
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _snake(words: str) -> str:
    return words.replace(" ", "_")


def _has(words: str) -> str:
    return _camel(f"has {words}" if is_role(words) and not is_verb(words) else words)
