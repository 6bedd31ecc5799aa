from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import torch

import kgqa
from kgqa.qa.decide import (
    RETIRED,
    DecisionConfig,
    aggregate,
    decide,
    disregard,
    merged,
    one_form_each,
    parts,
    whole_probability,
    with_yes_no,
)
from kgqa.qa.state import ComputedAnswer, HeadScores, QAState, QAStates
from kgqa.renamed import current_keys
from kgqa.settings import MODELS
from kgqa.types import Candidate, Evidence, InputError, Item, Passage, Question, Source, Span

SPADE = Candidate("spade", Source.KNOWLEDGE, 0.9, concept="x:spade")
THREE = Candidate("3", Source.KNOWLEDGE, 0.7)
NOTHING = Candidate("", Source.NONE, 0.8)


def state(answer_type: tuple[float, ...], computed: ComputedAnswer | None = None) -> QAState:
    return QAState(
        Question("what"), scores=HeadScores(torch.tensor(answer_type), concepts=(SPADE,)), computed=computed
    )


def test_the_likeliest_source_answers_and_no_answer_is_one() -> None:
    known, silent = decide((state((-9.0, 2.0, 0.0)), state((-9.0, 0.0, 2.0))), DecisionConfig())
    assert known.source is Source.KNOWLEDGE and known.candidates[0].text == "spade"
    assert silent.source is Source.NONE and silent.best.source is Source.NONE
    assert [c.text for c in silent.candidates] == ["spade"] and silent.confidence == pytest.approx(
        0.88, abs=0.01
    )


def test_what_was_computed_comes_first_and_what_cannot_be_is_no_answer() -> None:
    evidence = Evidence(query="ASK {}")
    counted, lacking = decide(
        (
            state((-9.0, 2.0, 0.0), ComputedAnswer(THREE, evidence)),
            state((-9.0, 2.0, 0.0), ComputedAnswer(NOTHING)),
        ),
        DecisionConfig(),
    )
    assert [c.text for c in counted.candidates] == ["3", "spade"] and counted.evidence == evidence
    (left,) = decide((state((-9.0, 2.0, 0.0)),), DecisionConfig())
    assert counted.candidates[1].score == pytest.approx(0.3 * left.candidates[0].score)  # what 3 leaves
    assert counted.none == pytest.approx(0.3 * left.none)
    assert lacking.source is Source.NONE and lacking.candidates[0].text == "spade"
    assert lacking.confidence == pytest.approx(0.8) == lacking.none


def test_none_is_said_where_it_is_likelier_than_a_user_allows() -> None:
    states = (state((-9.0, 2.0, 0.0)), state((-9.0, 0.0, 2.0)))  # none at 0.12 and 0.88
    for no_answer_threshold, output in ((None, "ks"), (0.1, "ss"), (0.5, "ks"), (0.9, "kk")):
        found = decide(states, DecisionConfig(no_answer_threshold=no_answer_threshold))
        assert "".join("s" if d.source is Source.NONE else "k" for d in found) == output
        assert [d.none for d in found] == pytest.approx([0.12, 0.88], abs=0.01)
        assert all(d.candidates[0].text == "spade" for d in found)


def known(name: str, score: float) -> Candidate:
    return Candidate(name, Source.KNOWLEDGE, score, concept=name)


def names(candidates: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_the_gate_chooses_the_source_and_the_heads_order_within_it() -> None:
    spans = [Candidate("here", Source.PASSAGE, 0.9), Candidate("there", Source.PASSAGE, 0.1)]
    concepts = [known("trowel", 0.6), known("spade", 0.4)]
    answer_type = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.5, Source.NONE: 0.2}
    assert names(merged(answer_type, spans, concepts))[:3] == ["trowel", "spade", "here"]
    silent = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.1, Source.NONE: 0.6}
    assert merged(silent, spans, concepts)[0].source is Source.NONE


def test_yes_and_no_come_first_where_their_mean_is_likelier_than_every_source() -> None:
    ranked, sentence = [known("trowel", 0.5)], Span(0, 4)
    answer_type = {Source.KNOWLEDGE: 0.4}
    assert names(with_yes_no(ranked, answer_type, [0.4, 0.5], Source.PASSAGE, sentence)) == [
        "no",
        "yes",
        "trowel",
    ]
    assert with_yes_no(ranked, answer_type, [0.4, 0.5], Source.PASSAGE, sentence)[0].span == sentence
    assert names(with_yes_no(ranked, answer_type, [0.1, 0.5], Source.PASSAGE, sentence)) == [
        "trowel",
        "no",
        "yes",
    ]
    assert with_yes_no(ranked, answer_type, [], Source.PASSAGE, sentence) == ranked
    output = with_yes_no(ranked, answer_type, [0.4, 0.5], Source.KNOWLEDGE, None)
    assert output[0].source is Source.KNOWLEDGE and output[0].span is None


def test_a_yes_about_a_passage_rests_on_the_sentence_of_the_best_span() -> None:
    passage = Passage("It was late. I dug the ground with a trowel. Then I slept.")
    at = passage.text.index("ground")
    spans = (Candidate("ground", Source.PASSAGE, 0.6, span=Span(at, at + 6)),)
    asked = QAState(
        Question("Did I dig?", passage=passage),
        scores=HeadScores(torch.tensor([0.0, 0.0, 0.0, 3.0, 1.0]), spans),
    )
    (found,) = decide((asked,), DecisionConfig())
    assert found.best.text == "yes" and found.source is Source.PASSAGE
    assert passage.text[slice(*found.best.span)] == "I dug the ground with a trowel."
    unsaid = QAState(Question("Is it hot?"), scores=HeadScores(torch.tensor([0.0, 0.0, 0.0, 3.0, 1.0])))
    assert decide((unsaid,), DecisionConfig())[0].best == Candidate("yes", Source.KNOWLEDGE, found.best.score)


def test_spans_that_say_the_same_longer_or_shorter_share_no_confidence() -> None:
    """Left a place each, a right span among wordings of itself was told at less than half."""
    texts = {"roll up his sleeve": Span(3, 21), "to roll up his sleeve": Span(0, 21), "Samir": Span(30, 35)}
    spans = tuple(
        Candidate(text, Source.PASSAGE, 0.45 - 0.2 * (text == "Samir"), span) for text, span in texts.items()
    )
    asked = Question("What did she ask?", passage=Passage("to roll up his sleeve, she told Samir"))
    read = QAState(asked, scores=HeadScores(torch.tensor((9.0, 0.0, 0.0)), spans=spans))
    (found,) = decide((read,), DecisionConfig())
    assert found.confidence == pytest.approx(0.45 * (1 + 36 / 39), abs=1e-2)
    known = Candidate("nurse", Source.KNOWLEDGE, 0.5, concept="x:nurse")
    yes = Candidate("yes", Source.PASSAGE, 0.5, Span(0, 21))
    assert whole_probability(known, [known, *spans]) == whole_probability(yes, [yes, *spans]) == 0.5


def test_past_forms_of_one_verb_are_one_candidate_in_an_open_world_only() -> None:
    concepts = (known("melt", 0.5), known("freeze", 0.3), known("melted", 0.2))
    scores = HeadScores(torch.tensor((-9.0, 2.0, 0.0)), concepts=concepts)
    asked = QAState(Question("What happened to the ice?"), scores=scores)
    (open_world,) = decide((asked,), DecisionConfig())
    (closed,) = decide((asked,), DecisionConfig(), closed_world=True)
    assert names(list(open_world.candidates)) == ["melted", "freeze"] and open_world.best.concept == "melted"
    assert names(list(closed.candidates)) == ["melt", "freeze", "melted"]
    plants = [known("plants die", 0.5), known("wither", 0.3), known("die", 0.2)]
    merged = one_form_each(plants, "What happened to the plants?")
    assert [(c.text, c.score) for c in merged] == [("die", 0.7), ("wither", 0.3)]
    assert one_form_each(plants, "What happened?") == plants
    apart = [known("Turkey", 0.6), known("turkey", 0.4)]
    assert one_form_each(apart, "What did they visit?") == apart
    assert names(one_form_each([known("glass", 0.6), known("glasses", 0.4)], "What broke?")) == [
        "glass",
        "glasses",
    ]


# The table of numbers that depend on a reader: in its card, and nowhere else.


PACKAGE = Path(kgqa.__file__).parent


def test_confidence_is_as_the_card_says() -> None:
    decision = DecisionConfig.of_card({"decision": {"calibration": {"knowledge": [1.0, -1.0]}}})
    assert decision.confidence(SPADE) < 0.9
    assert (
        decision.no_answer_threshold is None
        and DecisionConfig(no_answer_threshold=0.4).no_answer_threshold == 0.4
    )
    assert DecisionConfig.of_card({}).confidence(SPADE) == pytest.approx(0.9)


@pytest.mark.parametrize(
    "table", [{"calibration": ["knowledge"]}, {"followed": {"shared": 1.0}}, {"no_answer_threshold": "much"}]
)
def test_another_form_is_refused_in_one_line(table: dict[str, object]) -> None:
    with pytest.raises(
        InputError, match=r"the reader's card: decision (calibration|followed|no_answer_threshold)"
    ):
        DecisionConfig.of_card({"decision": table})


def test_what_an_older_card_still_names_is_dropped() -> None:
    assert (
        DecisionConfig.of_card({"decision": {name: {"shared": 1.0} for name in RETIRED}}) == DecisionConfig()
    )


def test_a_table_is_written_and_read_as_it_is() -> None:
    decision = DecisionConfig(no_answer_threshold=0.4, calibration={"none": (1.0, 0.5)})
    reported = json.loads(json.dumps(decision.model_dump(mode="json")))
    assert DecisionConfig.of_card({"decision": reported}) == decision


def test_the_shipped_readers_are_fitted() -> None:
    for card in MODELS.glob("*/reader.json"):
        table = current_keys(json.loads(card.read_text(encoding="utf-8")))
        assert {"knowledge", "passage", "none"} <= DecisionConfig.of_card(table).calibration.keys(), card


def test_no_number_of_several_digits_stands_in_the_floor_of_answers() -> None:
    """A number with two decimals was fitted to something."""
    for path in (PACKAGE / "qa").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value > 1e-3:
                figures = f"{node.value:g}".replace("0.", "").replace(".", "").strip("0")
                assert len(figures) < 2, (
                    f"{path.name}:{node.lineno}: {node.value} belongs into the reader's card"
                )


def test_a_span_that_joins_several_things_is_several_things() -> None:
    text = "Plants need light, water and carbon dioxide."

    def spans(*found: str) -> list[str]:
        candidates = tuple(
            Candidate(one, Source.PASSAGE, 0.5, Span(text.index(one), text.index(one) + len(one)))
            for one in found
        )
        asked = QAState(
            Question("What do plants need?", passage=Passage(text)),
            candidates=candidates,
            best=candidates[0],
            source=Source.PASSAGE,
        )
        (gathered,) = aggregate((asked,))
        assert all(text[item.span.start : item.span.end] == item.text for item in gathered.items)
        return [item.text for item in gathered.items]

    assert spans("light, water and carbon dioxide") == ["light", "water", "carbon dioxide"]
    assert spans("water and carbon dioxide", "light") == []  # the reader has not found either by itself
    assert spans("water and carbon dioxide", "water") == ["water", "carbon dioxide"]


def test_several_things_that_were_computed_stay_together() -> None:
    computed = QAState(Question("what"), source=Source.KNOWLEDGE, items=(Item("a"), Item("b")))
    assert aggregate((computed,)) == (computed,)


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("light, water and carbon dioxide", ["light", "water", "carbon dioxide"]),
        ("bread, cheese, or jam", ["bread", "cheese", "jam"]),
        ("bread and juice", ["bread", "juice"]),
        ("a wooden spoon", []),
        ("Paris, France", []),
        ("1,200", []),
        ("Anna gave a party. Paul, Julia and Karin", []),
        ("the old keeper climbed the steep stairs and lit the lamp", []),
    ],
)
def test_what_commas_and_a_last_and_join_is_several_things(text: str, things: list[str]) -> None:
    assert [text[start:end] for start, end in parts(text)] == things


PASSAGE = "Anna read a book."
SPANS = (Candidate("a book", Source.PASSAGE, 0.9, span=Span(10, 16)),)
READ_NO = (-9.0, -9.0, 0.0, 0.0, 1.0)
NONE = (-9.0, -9.0, 5.0, 0.0, 0.0)
KNOWN_YES = (-1e4, -9.0, -9.0, 3.0, 0.0)
UNSURE = (-1e4, -9.0, 2.0, 0.0, 0.0)


def yes_no_state(text: str, answer_type: tuple[float, ...], **more: object) -> QAState:
    return QAState(
        Question(text, passage=PASSAGE), scores=HeadScores(torch.tensor(answer_type), SPANS), **more
    )  # type: ignore[arg-type]


def alone(answer_type: tuple[float, ...], seen: list[QAState]):  # type: ignore[no-untyped-def]
    def read(states: QAStates) -> QAStates:
        seen.extend(states)
        return tuple(QAState(d.question, scores=HeadScores(torch.tensor(answer_type))) for d in states)

    return read


def output(found: QAState) -> tuple[str, Source, Span | None]:
    (decided,) = decide((found,), DecisionConfig())
    return decided.best.text, decided.source, decided.best.span


def test_a_yes_that_the_passage_has_nothing_to_do_with_is_known_and_rests_on_no_sentence() -> None:
    seen: list[QAState] = []
    beside = yes_no_state("Is Paris in France?", READ_NO)
    assert output(beside) == ("no", Source.PASSAGE, Span(0, 17))
    (found,) = disregard((beside,), alone(KNOWN_YES, seen), 0.2)
    assert output(found) == ("yes", Source.KNOWLEDGE, None)
    assert found.question.passage_text == PASSAGE and not seen[0].question.passage_text


def test_none_stays_where_both_readings_together_say_so() -> None:
    (found,) = disregard((yes_no_state("Was it raining?", NONE),), alone(UNSURE, []), 0.2)
    assert output(found)[1] is Source.NONE
    for none in (1.5, -0.2):  # likelier than yes, or than both together alone
        answer_type = (-9.0, -9.0, none, 0.0, -2.0)
        (found,) = disregard((yes_no_state("Is Paris in France?", answer_type),), alone(KNOWN_YES, []), 0.2)
        assert output(found)[0] == "yes"


@pytest.mark.parametrize(
    ("given", "share"),
    [
        (yes_no_state("Did Anna read?", READ_NO), 0.2),  # the passage is about it
        (yes_no_state("Is Paris in France?", READ_NO), 0.0),
        (yes_no_state("What is that?", (5.0, 0.0, 0.0, 0.0, 0.0)), 0.2),  # a span answers
        (yes_no_state("Is that so?", READ_NO, computed=ComputedAnswer(SPANS[0])), 0.2),
        (QAState(Question("Is it?"), scores=HeadScores(torch.tensor(KNOWN_YES))), 0.2),
    ],
)
def test_other_questions_are_not_read_again(given: QAState, share: float) -> None:
    seen: list[QAState] = []
    assert disregard((given,), alone(KNOWN_YES, seen), share) == (given,) and not seen
