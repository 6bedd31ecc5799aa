from __future__ import annotations

import dataclasses
import random
import re

import numpy as np
import pytest

from kgqa.data.synthetic import questions
from kgqa.data.synthetic.facts import Facts, QuestionGroup, find_groups, read_generic_verbs, read_templates
from kgqa.data.synthetic.questions import SHE, I, Person, choose_alternatives, event_forms, fill, needs
from kgqa.types import Edges, InputError, Ints, Relation, Source

FACTS = """
trowel UsedFor dig a small hole; trowel UsedFor plant flowers; excavator UsedFor dig the foundation
plant flowers HasInstrument trowel; plant flowers HasInstrument watering can
plant flowers AtLocation garden
plant flowers HasSubevent dig a small hole; plant flowers HasEmotion satisfied
plant flowers HasAgent gardener
plant flowers MotivatedByGoal have a beautiful garden; plant flowers HasTime spring
plant flowers HasMaterial seed
dig the foundation HasInstrument excavator; build a house HasSubevent dig the foundation
build a house AtLocation construction site; build a house HasAgent builder; build a house HasEmotion proud
build a house HasClothing hard hat; build a house HasTime summer; build a house HasMaterial brick
wash the car HasInstrument sponge; wash the car AtLocation driveway; wash the car HasEmotion content
wash hands HasInstrument soap; wash hands AtLocation bathroom; wash hands MotivatedByGoal be clean
cut bread HasInstrument bread knife; cut hair HasInstrument scissors; cut hair HasAgent hairdresser
cut wood HasInstrument saw; cut bread AtLocation kitchen; cut wood AtLocation workshop
cut wood HasTime autumn
bread knife UsedFor cut bread; saw UsedFor cut wood; sponge UsedFor wash the car; soap UsedFor wash hands
trowel AtLocation garden shed; saw AtLocation workshop; bread knife AtLocation kitchen drawer
trowel MadeOf steel; hard hat MadeOf plastic; brick MadeOf clay; trowel IsA tool; saw IsA tool
dog CapableOf guard the house; dog Desires bone; cat CapableOf catch a mouse; cat Desires milk
""".replace("\n", ";")


class Toy:
    """A graph in lists, for floor 2 knows no store."""

    name, hash = "toy", "0"

    def __init__(self, facts: str = FACTS) -> None:
        table: dict[str, int] = {}
        rows = []
        self.relations: list[Relation] = []
        for fact in filter(str.strip, facts.split(";")):
            words = fact.split()
            at = next(i for i, word in enumerate(words) if word[0].isupper())
            name = f"https://example.org/{words[at]}"
            if name not in [r.name for r in self.relations]:
                self.relations.append(Relation(name, words[at]))
            head, tail = " ".join(words[:at]), " ".join(words[at + 1 :])
            relation = [r.name for r in self.relations].index(name)
            rows.append((table.setdefault(head, len(table)), relation, table.setdefault(tail, len(table))))
        self.table, self.rows = list(table), np.array(rows, dtype=np.int32).reshape(-1, 3)
        self.entity_count = len(table)

    def find(self, surfaces: list[str], language: str = "") -> list[Ints]:
        raise AssertionError("not asked")

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        kept = self.rows[np.isin(self.rows[:, 0], entities) | np.isin(self.rows[:, 2], entities)]
        return Edges(kept[:, 0], kept[:, 1], kept[:, 2], np.ones(len(kept), dtype=np.float32))

    def labels(self, entities: Ints) -> list[str]:
        return [self.table[e] for e in entities]

    names = labels

    def degrees(self, entities: Ints) -> Ints:
        return np.ones(len(entities), dtype=np.int32)


def test_every_source_is_made_and_answers_are_hidden_or_marked() -> None:
    examples = list(questions.generate_questions(Toy(), count=600, seed=1))
    assert len(examples) == 600
    assert {e.source for e in examples} == set(Source)
    assert len({e.question.id for e in examples}) == 600
    for example in examples:
        question = example.question
        assert question.text.endswith("?") or "Name" in question.text or question.text.endswith(".")
        assert not set("\x01\x02{}|") & set(question.text + question.passage_text)
        if example.source is Source.KNOWLEDGE:
            for concept in example.concepts:
                assert f" {concept} " not in f" {question.passage_text} "
        for span in example.spans:
            assert question.passage_text[span.start : span.end].strip()


def test_same_seed_same_examples() -> None:
    first, again, other = (list(questions.generate_questions(Toy(), count=50, seed=s)) for s in (1, 1, 2))
    assert first == again != other


def test_pairs_share_the_question_and_differ_in_the_answer() -> None:
    mixture = questions.QuestionMixture(stated=0, none=0, no_passage=0, choices=0, pairs=1)
    pairs: dict[str, list] = {}
    for example in questions.generate_questions(Toy(), count=300, seed=3, mixture=mixture):
        if example.question.id[-2:] in ("-a", "-b"):
            pairs.setdefault(example.question.id[:-2], []).append(example)
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    assert len(whole) > 50
    for first, second in whole:
        assert first.question.text == second.question.text
        assert first.question.passage_text != second.question.passage_text
        assert not set(first.concepts) & set(second.concepts)


def test_a_generic_verb_is_answered_by_way_of_a_subevent() -> None:
    mixture = questions.QuestionMixture(stated=0, none=0, no_passage=0, choices=0, pairs=0)
    found = [
        example.concepts
        for split in ("train", "dev")
        for example in questions.generate_questions(Toy(), count=2000, seed=0, split=split, mixture=mixture)
        if "build a house" in example.question.passage_text and "dig with" in example.question.text
    ]
    assert ("excavator",) in found


def test_splits_share_no_head() -> None:
    facts = ";".join(f"brush{i} UsedFor wash thing{i}" for i in range(80))
    heads = {}
    for split in ("train", "dev"):
        mixture = questions.QuestionMixture(stated=0, none=0, no_passage=1, choices=0)
        examples = questions.generate_questions(Toy(facts), count=200, seed=0, split=split, mixture=mixture)
        heads[split] = {concept for example in examples for concept in example.concepts}
    assert heads["train"] and heads["dev"]
    assert not heads["train"] & heads["dev"]


def test_no_usable_facts() -> None:
    with pytest.raises(InputError, match="no facts"):
        list(questions.generate_questions(Toy("a Knows b"), count=1, seed=0))
    with pytest.raises(InputError, match="split"):
        list(questions.generate_questions(Toy(), count=1, seed=0, split="test"))


def count_forms(template: str) -> int:
    """How many forms `expand` can make of a template without nested alternatives."""
    found = re.search(r"\(([^()]*\|[^()]*)\)", template)
    if not found:
        return 1
    before, after = template[: found.start()], template[found.end() :]
    return sum(count_forms(before + option + after) for option in found.group(1).split("|"))


def test_main_relations_have_forty_question_forms() -> None:
    assert count_forms("(what|which tool) did {q} use(| then)?") == 4
    words = read_templates()
    for name in ("instrument", "place", "thing_place", "who", "why", "what_for", "feel", "wear", "material"):
        forms = sum(count_forms(t) for t in words[name]["past"] + words[name]["bare"])
        assert forms >= 40, (name, forms)


def test_mixture_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        questions.QuestionMixture().stated = 1.0  # type: ignore[misc]


LABELS = ["plant flowers", "trowel", "bat (animal)", "cave", "dig a hole", "water"]


class Graph:
    name, hash, entity_count = "toy", "0", len(LABELS)
    relations = [
        Relation("http://x/HasInstrument", ""),
        Relation("AtLocation", ""),
        Relation("rel:UsedFor", ""),
    ]

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        rows = np.array([[0, 0, 1], [2, 1, 3], [1, 2, 4], [1, 2, 0]], dtype=np.int32)
        return Edges(rows[:, 0], rows[:, 1], rows[:, 2], np.array([2, 1, 1, 1], dtype=np.float32))

    def labels(self, entities: Ints) -> list[str]:
        return [LABELS[e] for e in entities]


def test_facts_by_relation() -> None:
    facts = Facts(Graph())  # type: ignore[arg-type]
    at = facts.texts.index
    assert facts.tails(at("plant flowers"), "HasInstrument") == {at("trowel"): 2.0}
    assert facts.tails(at("trowel"), "~HasInstrument") == {at("plant flowers"): 2.0}
    assert facts.tails(at("cave"), "HasInstrument") == {}
    assert "bat" in facts.texts and "bat (animal)" in facts.labels
    assert (facts.verb(at("plant flowers")), facts.verb(at("cave"))) == ("plant", "")


def test_held_out_is_decided_by_the_label() -> None:
    facts = Facts(Graph())  # type: ignore[arg-type]
    assert [facts.is_dev(i) for i in range(5)] == [facts.is_dev(i) for i in range(5)]


GROUP_FACTS = [
    ("dig the foundation", "HasInstrument", "excavator"),
    ("build a house", "HasSubevent", "dig the foundation"),
    ("build a house", "HasAgent", "builder"),
    ("fly south", "HasAgent", "stork"),
    ("stork", "IsA", "bird"),
    ("hand", "UsedFor", "write a letter"),
    ("trowel", "MadeOf", "steel"),
]


class GroupGraph:
    """Those facts, behind the protocol's bulk questions."""

    name, hash = "toy", "0"
    table = sorted({name for head, _, tail in GROUP_FACTS for name in (head, tail)})
    entity_count = len(table)
    relations = [Relation(name, name) for name in sorted({fact[1] for fact in GROUP_FACTS})]

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        names = [relation.name for relation in self.relations]
        rows = [(self.table.index(h), names.index(r), self.table.index(t)) for h, r, t in GROUP_FACTS]
        array = np.array(rows, dtype=np.int32)
        return Edges(array[:, 0], array[:, 1], array[:, 2], np.ones(len(rows), dtype=np.float32))

    def labels(self, entities: Ints) -> list[str]:
        return [self.table[e] for e in entities]


def groups() -> tuple[Facts, dict[str, list[QuestionGroup]]]:
    facts = Facts(GroupGraph())  # type: ignore[arg-type]
    found: dict[str, list[QuestionGroup]] = {}
    for dev in (False, True):
        for group in find_groups(facts, dev):
            found.setdefault(group.name, []).append(group)
    return facts, found


def test_tools_are_found_by_way_of_a_subevent() -> None:
    facts, found = groups()
    house, excavator = facts.texts.index("build a house"), facts.texts.index("excavator")
    answers = [group.answers[house] for group in found["instrument"] if house in group.heads]
    assert answers == [{excavator: 0.5}]
    assert [g.generic[house, "dig"] for g in found["instrument"] if house in g.heads] == [{excavator}]


def test_animals_are_not_asked_for_with_who() -> None:
    facts, found = groups()
    asked = {facts.texts[head] for group in found["who"] for head in group.heads}
    assert asked == {"build a house"}


def test_wording_is_whole() -> None:
    words = read_templates()
    for name, row in words.items():
        if isinstance(row, dict) and "relations" in row:
            assert row["kind"] in words["scenes"] and row["past"] and row["bare"], name
            assert {"stated", "stated_but", "answer"} <= row.keys(), name
    assert all({"done", "asked"} <= verb.keys() for verb in read_generic_verbs().values())


def test_events_take_the_person_along() -> None:
    assert event_forms("brush teeth", SHE) == {
        "e": "brush her teeth",
        "ed": "brushed her teeth",
        "ing": "brushing her teeth",
    }
    assert event_forms("be kind", Person("the boys", "they", "them", "their", True))["ed"] == "were kind"
    assert event_forms("find your way", I)["ing"] == "finding my way"


def test_templates_expand_and_fill() -> None:
    template = "(what|which tool) did {q} use(| then)?"
    forms = {fill(choose_alternatives(template, random.Random(i)), {"q": "she"}) for i in range(60)}
    assert len(forms) == 4
    assert "Which tool did she use then?" in forms
    assert needs(template) == {"q"}


def test_agreement() -> None:
    assert (I.slots()["is"], I.slots()["has"], SHE.slots()["does"]) == ("am", "have", "does")
