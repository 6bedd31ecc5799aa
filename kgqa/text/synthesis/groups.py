"""Which facts can be asked about, and how they answer: one group for each kind of question in templates.toml."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from kgqa.text.synthesis.facts import Facts

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Group:
    """The questions of one kind: concepts they can be asked of, with the accepted answers."""

    name: str
    heads: list[int]
    weights: list[float]
    """cumulative chance of the heads; common answers count less"""
    answers: dict[int, dict[int, float]]
    """head -> accepted answers with weights"""
    by_verb: dict[str, list[int]]
    """generic verb -> heads it can be asked of"""
    verbs: dict[int, list[str]]
    """head -> its generic verbs"""
    same_verb: dict[str, list[int]]
    """first word of an event -> heads that begin with it"""
    generic: dict[tuple[int, str], set[int]]
    """(head, generic verb) -> answers that do it there"""
    pool: list[int]
    """all answers"""
    wording: dict[str, Any]
    """the group's row of templates.toml"""


def read_templates() -> dict[str, Any]:
    """The wording: scenes, fillers, and for each group its questions by tense (templates.toml)."""
    return tomllib.loads((_FOLDER / "templates.toml").read_text(encoding="utf-8"))


def read_generic_verbs() -> dict[str, Any]:
    """Verbs that many contexts share (generic.toml)."""
    return tomllib.loads((_FOLDER / "generic.toml").read_text(encoding="utf-8"))


def find_groups(facts: Facts, dev: bool) -> list[Group]:
    """Every group that the graph has facts for, of the held-out concepts or of the others."""
    words = read_templates()
    names = [name for name, value in words.items() if isinstance(value, dict) and "relations" in value]
    finder = _Finder(facts, words)
    return [group for group in (finder.group(name, dev) for name in names) if group]


class _Finder:
    def __init__(self, facts: Facts, words: dict[str, Any]) -> None:
        self.facts, self.words = facts, words
        self.generic_verbs = read_generic_verbs()
        self.agents = set(facts.heads("~HasAgent"))

    def group(self, name: str, dev: bool) -> Group | None:
        facts, wording = self.facts, self.words[name]
        eventful = wording["kind"] in ("event", "agent")
        answers: dict[int, dict[int, float]] = defaultdict(dict)
        for relation in wording["relations"]:
            for head in facts.heads(relation):
                if eventful == (bool(facts.verb(head)) or (relation[0] != "~" and facts.is_occasion(head))):
                    answers[head].update(facts.tails(head, relation))
        if not eventful and name != "impulse":
            answers = {h: a for h, a in answers.items() if not facts.is_quality(h)}
        if name == "who":
            answers = {h: a for h, a in answers.items() if self._is_for_people(h, a)}
        elif name == "has_a":
            answers = {h: a for h, a in answers.items() if h not in self.agents}
        elif name == "what_for":
            answers = {h: a for h, a in answers.items() if not facts.is_body_part(h)}
        generic: dict[tuple[int, str], set[int]] = defaultdict(set)
        if name == "instrument":
            answers = {h: {a: w for a, w in f.items() if facts.is_tool(a)} for h, f in answers.items()}
            self._find_generic(answers, generic, wording["hops"])
        wants_event = wording["answer"] == "event"
        kept = {
            head: {a: w for a, w in found.items() if wants_event is bool(facts.verb(a))}
            if wording["answer"] != "any"
            else found
            for head, found in answers.items()
        }
        heads = [head for head in sorted(kept) if kept[head] and facts.is_dev(head) is dev]
        if not heads:
            return None
        frequency = Counter(a for head in heads for a in kept[head])
        weights = [sum(frequency[a] ** -0.5 for a in kept[h]) / len(kept[h]) for h in heads]
        inside = set(heads)
        by_verb: dict[str, list[int]] = defaultdict(list)
        for head, verb in sorted(generic):
            if head in inside and facts.verb(head):
                by_verb[verb].append(head)
        verbs: dict[int, list[str]] = defaultdict(list)
        for verb, members in by_verb.items():
            for head in members:
                verbs[head].append(verb)
        same_verb: dict[str, list[int]] = defaultdict(list)
        for head in heads:
            same_verb[facts.verb(head)].append(head)
        return Group(
            name=name,
            heads=heads,
            weights=list(accumulate(weights)),
            answers=kept,
            by_verb=dict(by_verb),
            verbs=dict(verbs),
            same_verb=dict(same_verb),
            generic=generic,
            pool=sorted(frequency),
            wording=wording,
        )

    def _is_for_people(self, event: int, agents: dict[int, float]) -> bool:
        """Whether one can ask "Who?": the graph names an agent, and none is an animal or a machine."""
        named = self.facts.tails(event, "HasAgent")
        return bool(named) and all(a in self.agents and not self.facts.is_animal(a) for a in agents)

    def _find_generic(
        self,
        answers: dict[int, dict[int, float]],
        generic: dict[tuple[int, str], set[int]],
        hops: Sequence[str],
    ) -> None:
        """Tools by what they do in a context: build a house -HasSubevent-> dig -HasInstrument-> excavator."""
        facts, direct = self.facts, {head: dict(found) for head, found in answers.items()}
        by_tool = {verb for verb, row in self.generic_verbs.items() if row.get("by_tool")}
        does: dict[int, set[str]] = {}
        for tool in {tool for found in direct.values() for tool in found}:
            uses = [facts.verb(use) for use in facts.tails(tool, "UsedFor")]
            # A hand writes and cuts and carries: only what a tool is mainly for says what it does elsewhere.
            does[tool] = {verb for verb in uses if verb in by_tool and uses.count(verb) * 4 >= len(uses)}
        for head in sorted(set(direct) | {h for hop in hops for h in facts.heads(hop)}):
            own = facts.verb(head)
            for tool in direct.get(head, {}):
                for verb in {own, *does[tool]} & self.generic_verbs.keys():
                    generic[head, verb].add(tool)
            for hop in hops:
                for step in facts.tails(head, hop):
                    for tool, weight in direct.get(step, {}).items():
                        answers.setdefault(head, {}).setdefault(tool, weight / 2)
                        if (verb := facts.verb(step)) in self.generic_verbs:
                            generic[head, verb].add(tool)
