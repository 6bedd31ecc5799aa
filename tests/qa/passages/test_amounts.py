"""Amounts that a passage leaves to be computed are computed by a reader that has a head for them, and by no other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from kgqa.language.quantities import CLOCK, MONEY, NUMBER, OPERATORS, TIME, YES_NO, Quantity, find_quantities
from kgqa.models.arithmetic_head import FILE, ArithmeticHead, load_arithmetic_head, save_arithmetic_head
from kgqa.models.load import open_reader
from kgqa.models.pretrained import CARD, write_card
from kgqa.qa.answerer import Answerer
from kgqa.qa.decide import DecisionConfig, decide
from kgqa.qa.passages.amounts import (
    AmountCalibration,
    Expression,
    Operation,
    _is_sensible,
    answers_other,
    compute_amounts,
    expressions,
    formula,
    in_unit_asked,
    is_answered,
    miscount,
    possible,
    sum_of,
)
from kgqa.qa.render import answer_json, source_words
from kgqa.qa.state import HeadScores, QAState
from kgqa.types import Candidate, InputError, Passage, Question, Source, Span

PASSAGE = "A ticket costs 4 euros. Tom buys 3 of them."
QUESTION = "How much does Tom pay?"


def head_for(hidden_size: int, *operators: str, computes: bool = True) -> ArithmeticHead:
    """A head that always, or never, computes, by one operator or by one after the other."""
    torch.manual_seed(0)
    head = ArithmeticHead(hidden_size).eval()
    with torch.no_grad():
        for layer in (head.answer_type[-1], head.operation):
            layer.weight.zero_()
            layer.bias.zero_()
        head.answer_type[-1].bias += 20.0 if computes else -20.0
        for n, operator in enumerate(operators):
            head.operation.bias[2 * OPERATORS.index(operator) + (n == len(operators) - 1)] = 20.0
    return head


def answerer_with(folder: Path, graph: Path, head: ArithmeticHead | None, once: bool = False) -> Answerer:
    if head is not None:
        save_arithmetic_head(head, {}, folder)
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        write_card(folder, {**card, "amounts": {"layer": 1}})
    return Answerer.load(str(folder), graph, device="cpu", once=once)


def hidden_size(folder: Path) -> int:
    return open_reader(folder, "cpu").network.layerwise.hidden_size


@pytest.fixture
def computing(model_folder: Path, tools_file: Path) -> Answerer:
    return answerer_with(model_folder, tools_file, head_for(hidden_size(model_folder), "*"))


def test_an_amount_is_computed_and_explained(computing: Answerer) -> None:
    answer = computing.answer(QUESTION, passage=PASSAGE)
    assert (answer.text, answer.source) == ("12 euros", Source.PASSAGE)
    assert answer.evidence.interpretation is not None
    assert answer.evidence.interpretation.phrase == "4 × 3 = 12 euros"
    assert answer.evidence.span is not None
    assert PASSAGE[answer.evidence.span.start : answer.evidence.span.end] == "4 euros. Tom buys 3"
    assert answer_json(answer)["reason"] == "4 × 3 = 12 euros"
    assert source_words(answer) == "computed from the passage"
    assert answer.candidates[0].text == "12 euros" and len(answer.candidates) > 1


def test_batches_and_single_use_compute_as_well(
    computing: Answerer, model_folder: Path, tools_file: Path
) -> None:
    questions = [
        Question(QUESTION, passage=Passage(PASSAGE)),
        Question("Who?", passage=Passage("Ann sings.")),
    ]
    assert [answer.text == "12 euros" for answer in computing.answer_many([*questions, questions[0]])] == [
        True,
        False,
        True,
    ]
    assert answerer_with(model_folder, tools_file, None, once=True).answer(questions[0]).text == "12 euros"


def test_a_reader_without_a_head_or_that_says_no_answers_as_before(
    model_folder: Path, tools_file: Path
) -> None:
    before = answerer_with(model_folder, tools_file, None)
    assert "amounts" not in [step.name for step in before.steps]
    first = before.answer(QUESTION, passage=PASSAGE)
    after = answerer_with(model_folder, tools_file, head_for(hidden_size(model_folder), "*", computes=False))
    second = after.answer(QUESTION, passage=PASSAGE)
    assert "amounts" in [step.name for step in after.steps]
    assert (first.text, first.candidates, first.confidence) == (
        second.text,
        second.candidates,
        second.confidence,
    )


def test_what_cannot_be_computed_is_left_to_the_reader(computing: Answerer) -> None:
    asked = [
        Question(QUESTION),
        Question(QUESTION, passage=Passage("A ticket costs 4 euros.")),
        Question(QUESTION, choices=("12", "4"), passage=Passage(PASSAGE)),
        Question("What of 3 and 4?", passage=Passage("It says nothing.")),
        Question(QUESTION, passage=Passage(PASSAGE + " It rains again." * 200)),
    ]
    assert [sum_of(question, computing.reader) for question in asked] == [None] * len(asked)
    (state,) = compute_amounts(
        (QAState(Question(QUESTION, passage=Passage(PASSAGE)), is_glossed=True),), computing.reader
    )
    assert state.computed is None


def test_damaged_weights_and_cards_are_named(model_folder: Path) -> None:
    reader = open_reader(model_folder, "cpu").network
    assert load_arithmetic_head(reader, model_folder) is None
    (model_folder / FILE).write_bytes(b"nothing")
    with pytest.raises(InputError, match=FILE):
        load_arithmetic_head(reader, model_folder)
    with pytest.raises(InputError, match="amounts"):
        AmountCalibration.of_card({"amounts": {"threshold": 2}})


def test_the_head_fits_its_budget(tmp_path: Path) -> None:
    save_arithmetic_head(ArithmeticHead(768), {}, tmp_path)
    assert (tmp_path / FILE).stat().st_size <= 2_000_000


def quantities(text: str) -> tuple[Quantity, ...]:
    return tuple(amount.quantity for amount in find_quantities(text))


class AddsThenTakes(ArithmeticHead):
    """Adds first, and takes away last."""

    asked = 0

    def operations(self, pairs: Tensor) -> Tensor:
        """Scores (P, operators, 2)."""
        self.asked += 1
        scores = torch.zeros(len(pairs), len(OPERATORS), 2)
        for operator in ("+",) if self.asked == 1 else ("-", "r-"):
            scores[:, OPERATORS.index(operator), int(self.asked > 1)] = 20.0
        return scores


def test_expressions_are_built_step_by_step() -> None:
    given = quantities("3 euros, 4 euros and 2 euros")
    best = expressions(
        AddsThenTakes(8).eval(), given, torch.randn(3, 128), torch.randn(128), "How much is it?"
    )[0]
    assert [OPERATORS[step.operator].removeprefix("r") for step in best.steps] == ["+", "-"]
    assert len(best.quantities) == 5 and best.result == best.quantities[-1] and best.score <= 0
    assert sorted({n for step in best.steps for n in step[:2]}) == [0, 1, 2, 3]  # each of them once


def test_a_quantity_is_taken_again_only_beside_its_own_share() -> None:
    given = quantities("36 eggs and 9 eggs")
    found = expressions(AddsThenTakes(8).eval(), given, torch.randn(2, 128), torch.randn(128), "")
    assert all(len(expression.steps) == 1 for expression in found)  # not 36 - 9 - 9
    price, share = quantities("80 euros")[0], quantities("25 %")[0]
    times, minus = OPERATORS.index("*"), OPERATORS.index("-")
    part = Expression((Operation(0, 1, times),), (price, share, quantities("20 euros")[0]), 0.0)
    assert _is_sensible(part, Operation(0, 2, minus)) and not _is_sensible(part, Operation(0, 1, minus))


@pytest.mark.parametrize(
    ("question", "text", "kinds"),
    [
        ("Does everybody fit?", "5 people, 7 people", {YES_NO}),
        ("How many are left?", "5 people, 7 people", {NUMBER}),
        ("How long does it take?", "from 9:40 to 11:05 for 3 euros", {TIME}),
        ("When does it arrive?", "at 9:40 it was 5 minutes late", {CLOCK}),
        ("How much do they pay?", "3 tickets at 4 euros for 2 hours", {MONEY, NUMBER}),
    ],
)
def test_results_are_of_the_kind_asked_for(question: str, text: str, kinds: set[str]) -> None:
    torch.manual_seed(0)
    given = quantities(text)
    states = torch.randn(len(given), 128)
    found = expressions(ArithmeticHead(8).eval(), given, states, torch.randn(128), question)
    assert found and {expression.result.kind for expression in found} <= kinds


def span_of(part: str, passage: str) -> Candidate:
    start = passage.index(part)
    return Candidate(part, Source.PASSAGE, 0.8, Span(start, start + len(part)))


def read_as(question: str, passage: str, part: str) -> QAState:
    """The state of a question whose answer is read in the passage."""
    scores = HeadScores(torch.tensor([5.0, 0.0, 0.0]), spans=(span_of(part, passage),))
    return QAState(Question(question, passage=Passage(passage)), scores=scores)


@pytest.mark.parametrize(
    ("question", "passage", "part", "said"),
    [
        ("How many eggs did she buy?", "She bought three dozen eggs.", "three dozen eggs", "36 eggs"),
        (
            "How many minutes was he out?",
            "He was out for an hour and a half.",
            "an hour and a half",
            "90 minutes",
        ),
        ("How many minutes was he out?", "He was out for 90 minutes.", "90 minutes", None),
        ("How long was he out?", "He was out for an hour and a half.", "an hour and a half", None),
        ("How many eggs did she buy?", "She bought 36 eggs.", "36 eggs", None),
    ],
)
def test_a_quantity_is_said_in_the_unit_asked_for(
    question: str, passage: str, part: str, said: str | None
) -> None:
    found = in_unit_asked(read_as(question, passage, part))
    assert (found and found.candidate.text) == said


def test_a_reader_that_repeats_a_quantity_is_doubted(computing: Answerer) -> None:
    calibration = AmountCalibration(threshold=0.6, unanswered=0.3)
    in_all = "How much does Tom pay in all?"
    each = sum_of(Question(in_all, passage=Passage(PASSAGE)), computing.reader)
    assert each is not None
    said = [(in_all, "4 euros"), (in_all, "Tom"), (QUESTION, "4 euros"), ("When did Tom pay?", "4 euros")]
    assert [is_answered(read_as(q, PASSAGE, part), each) for q, part in said] == [False, True, True, False]
    none = QAState(
        Question(QUESTION, passage=Passage(PASSAGE)), scores=HeadScores(torch.tensor([0.0, 0.0, 5.0]))
    )
    assert not is_answered(none, each)
    least = (calibration.least(True), calibration.least(False), AmountCalibration().least(False))
    assert least == (0.6, 0.3, 0.5)


def test_a_result_of_less_probability_counts_where_the_reader_has_no_answer(computing: Answerer) -> None:
    state = read_as(QUESTION, PASSAGE, "Tom")
    none = replace(state, scores=HeadScores(torch.tensor([0.0, 0.0, 5.0])))
    reader = computing.reader
    assert reader.amounts is not None
    with torch.no_grad():
        reader.amounts[1].answer_type[-1].bias.zero_()
    reader.card["amounts"] = {"layer": 1, "threshold": 0.6, "unanswered": 0.3}
    found = [each.computed for each in compute_amounts((state, none), reader)]
    assert found[0] is None and found[1] is not None and found[1].candidate.text == "12 euros"


def test_comparisons_come_before_amounts(computing: Answerer) -> None:
    names = [step.name for step in computing.steps]
    assert names.index("read") < names.index("compare") < names.index("amounts") < names.index("decide")


def test_only_what_units_allow_is_possible() -> None:
    found = {
        (s.first, s.second, OPERATORS[s.operator])
        for s in possible(quantities("3 kg at 4 euros for 2 euros"))
    }
    assert (0, 1, "+") not in found and {(0, 1, "*"), (1, 2, "-"), (1, 2, ">=")} <= found


def expression(given: tuple[Quantity, ...], *steps: Operation) -> Expression:
    """An expression as it is shown; the values of its results do not matter for that."""
    return Expression(steps, (*given, *given[:1] * len(steps)), 0.0)


@pytest.mark.parametrize(
    ("text", "steps", "shown"),
    [
        ("4 euros, 3", [(0, 1, "*")], "4 × 3"),
        ("20 euros, 3, 4 euros", [(1, 2, "*"), (0, 3, "-")], "20 − 3 × 4"),
        ("3, 5, 2", [(0, 1, "+"), (2, 3, "*")], "2 × (3 + 5)"),
        ("3, 5, 2", [(0, 1, "+"), (2, 3, "r/")], "(3 + 5) ÷ 2"),
        ("9, 5, 2", [(1, 2, "-"), (0, 3, "-")], "9 − (5 − 2)"),
        ("2 hours, 15 minutes", [(0, 1, "+")], "2 hours + 15 minutes"),
        ("from 9:40 to 11:05", [(0, 1, "r-")], "11:05 − 9:40"),
        ("12, 17 euros", [(0, 1, "<=")], "12 ≤ 17"),
    ],
)
def test_expressions_are_shown_in_figures(text: str, steps: list[tuple[int, int, str]], shown: str) -> None:
    made = [Operation(first, second, OPERATORS.index(operator)) for first, second, operator in steps]
    assert formula(expression(quantities(text), *made)) == shown


def test_a_quantity_of_something_else_is_doubted(computing: Answerer) -> None:
    boxes, otto = "Each box holds 6 eggs. Ann has 4 boxes.", "Otto was born in 1901 and died in 1980."
    asked = [
        ("How many eggs does Ann have?", boxes, "4", True),
        ("How many eggs are in a box?", boxes, "6", False),
        ("How many things does Ann have?", boxes, "4", False),
        ("How old was Otto?", otto, "1980", True),
        ("When did Otto die?", otto, "1980", False),
        ("How long did Otto live?", otto, "1980", True),
        ("How long did Otto stay?", "Otto came in 1901 and stayed until 1980.", "1980", False),
    ]
    for question, passage, part, is_other in asked:
        each = sum_of(Question(question, passage=Passage(passage)), computing.reader)
        assert each is not None and answers_other(read_as(question, passage, part), each) is is_other


@pytest.mark.parametrize(
    ("question", "passage", "part", "doubt"),
    [
        (
            "How many animals did I see?",
            "I saw a lion, two monkeys and a snake.",
            "two monkeys and a snake",
            0.9,
        ),
        ("How many monkeys did I see?", "I saw a lion, two monkeys and a snake.", "two monkeys", 0),
        ("What did I see?", "I saw a lion, two monkeys and a snake.", "two monkeys and a snake", 0),
        ("How many minutes was it?", "It took one hour and ten minutes.", "one hour and ten minutes", 0),
        ("How many children may come?", "Children aged 6-12 may come.", "6-12", 0.9),
        ("How many children may come?", "It is for those aged 6 to 12.", "12", 0.9),
        ("How many rooms are there?", "She lives in room 12.", "12", 0.9),
        ("How many rooms are there?", "She has 12 rooms on line 3.", "12", 0),
        ("How many people came?", "The hall held 200 guests.", "200", 0),
        ("How many guests came?", "There were 200 people.", "200", 0),
    ],
)
def test_what_counts_something_else_is_no_count(
    question: str, passage: str, part: str, doubt: float, computing: Answerer
) -> None:
    state = read_as(question, passage, part)
    assert miscount(state) == doubt
    (found,) = compute_amounts((state,), computing.reader)
    assert found.doubt >= doubt


def test_what_had_to_be_computed_is_told_with_less_confidence(computing: Answerer) -> None:
    reader = computing.reader
    assert reader.amounts is not None
    with torch.no_grad():
        reader.amounts[1].answer_type[-1].bias.zero_()
    reader.card["amounts"] = {"layer": 1, "threshold": 0.6}
    (state,) = compute_amounts((read_as(QUESTION, PASSAGE, "4 euros"),), reader)
    assert state.computed is None and state.doubt == pytest.approx(0.5)
    (decided,) = decide((state,), DecisionConfig())
    assert decided.confidence == pytest.approx(0.5)
