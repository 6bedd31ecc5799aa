from __future__ import annotations

import random
import re

import pytest

from kgqa.data.synthetic import questions
from kgqa.data.synthetic.facts import Facts, QuestionGroup, find_groups, read_generic_verbs, read_templates
from kgqa.data.synthetic.questions import SHE, I, Person, choose_alternatives, event_forms, fill, needs
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Label, Source, Triple

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


def graph(facts: str = FACTS) -> GraphStore:
    rows = (re.fullmatch(r"\s*(.*) ([A-Z]\w*) (.*?)\s*", fact) for fact in facts.split(";") if fact.strip())
    return GraphStore.from_triples([Triple(row[1], row[2], row[3]) for row in rows if row], name="toy")


def test_every_source_is_made_and_answers_are_hidden_or_marked() -> None:
    examples = list(questions.generate_questions(graph(), count=600, seed=1))
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
    first, again, other = (list(questions.generate_questions(graph(), count=50, seed=s)) for s in (1, 1, 2))
    assert first == again != other


def only(monkeypatch: pytest.MonkeyPatch, **shares: float) -> None:
    """Generate knowledge questions with a passage alone, but for these shares of others."""
    for name in ("STATED", "NONE", "NO_PASSAGE", "CHOICES", "PAIRS"):
        monkeypatch.setattr(questions, name, shares.get(name, 0))


def test_pairs_share_the_question_and_differ_in_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, PAIRS=1)
    pairs: dict[str, list] = {}
    for example in questions.generate_questions(graph(), count=300, seed=3):
        if example.question.id[-2:] in ("-a", "-b"):
            pairs.setdefault(example.question.id[:-2], []).append(example)
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    assert len(whole) > 50
    for first, second in whole:
        assert first.question.text == second.question.text
        assert first.question.passage_text != second.question.passage_text
        assert not set(first.concepts) & set(second.concepts)


def test_a_generic_verb_is_answered_by_way_of_a_subevent(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    found = [
        example.concepts
        for split in ("train", "dev")
        for example in questions.generate_questions(graph(), count=2000, seed=0, split=split)
        if "build a house" in example.question.passage_text and "dig with" in example.question.text
    ]
    assert ("excavator",) in found


def test_splits_share_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, NO_PASSAGE=1)
    facts = ";".join(f"brush{i} UsedFor wash thing{i}" for i in range(80))
    heads = {}
    for split in ("train", "dev"):
        examples = questions.generate_questions(graph(facts), count=200, seed=0, split=split)
        heads[split] = {concept for example in examples for concept in example.concepts}
    assert heads["train"] and heads["dev"]
    assert not heads["train"] & heads["dev"]


def test_no_usable_facts() -> None:
    with pytest.raises(InputError, match="no facts"):
        list(questions.generate_questions(graph("a Knows b"), count=1, seed=0))
    with pytest.raises(InputError, match="split"):
        list(questions.generate_questions(graph(), count=1, seed=0, split="test"))


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


def test_facts_by_relation() -> None:
    weighted = [Triple("plant flowers", "http://x/HasInstrument", "trowel", 2.0)]
    weighted += [Triple("bat", "AtLocation", "cave"), Triple("trowel", "rel:UsedFor", "dig a hole")]
    facts = Facts(GraphStore.from_triples(weighted, [Label("bat", "bat (animal)")]))
    at = facts.texts.index
    assert facts.tails(at("plant flowers"), "HasInstrument") == {at("trowel"): 2.0}
    assert facts.tails(at("trowel"), "~HasInstrument") == {at("plant flowers"): 2.0}
    assert facts.tails(at("cave"), "HasInstrument") == {}
    assert "bat" in facts.texts and "bat (animal)" in facts.labels
    assert (facts.verb(at("plant flowers")), facts.verb(at("cave"))) == ("plant", "")


GROUP_FACTS = """
dig the foundation HasInstrument excavator; build a house HasSubevent dig the foundation
build a house HasAgent builder; fly south HasAgent stork; stork IsA bird; hand UsedFor write a letter
trowel MadeOf steel
""".replace("\n", ";")


def groups() -> tuple[Facts, dict[str, list[QuestionGroup]]]:
    facts = Facts(graph(GROUP_FACTS))
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
