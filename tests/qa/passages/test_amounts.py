"""Amounts that a passage leaves to be computed are computed by a reader that has a head for them, and by no other."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from torch import Tensor

from kgqa.language.quantities import (
    CLOCK,
    MONEY,
    NUMBER,
    OPERATORS,
    PERCENT,
    TIME,
    YES_NO,
    Quantity,
    find_quantities,
)
from kgqa.language.quantity_roles import Roles, roles_of
from kgqa.models.arithmetic_head import FILE, ArithmeticHead, load_arithmetic_head, save_arithmetic_head
from kgqa.models.load import open_reader
from kgqa.models.pretrained import CARD, write_card
from kgqa.qa.answerer import Answerer
from kgqa.qa.decide import DecisionConfig, decide
from kgqa.qa.passages.amounts import (
    AmountCalibration,
    Expression,
    Operation,
    Sum,
    _is_sensible,
    answers_other,
    compute_amounts,
    expressions,
    formula,
    in_unit_asked,
    is_answered,
    is_list_for_count,
    objections,
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
        save_arithmetic_head(head, folder)
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
    assert load_arithmetic_head(model_folder, 16) is None
    (model_folder / FILE).write_bytes(b"nothing")
    with pytest.raises(InputError, match=FILE):
        load_arithmetic_head(model_folder, 16)
    with pytest.raises(InputError, match="amounts"):
        AmountCalibration.of_card({"amounts": {"threshold": 2}})


def test_the_head_fits_its_budget(tmp_path: Path) -> None:
    save_arithmetic_head(ArithmeticHead(768), tmp_path)
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


def test_a_result_of_less_probability_counts_where_the_reader_has_no_answer(
    computing: Answerer,
) -> None:
    state = read_as(QUESTION, PASSAGE, "Tom")
    none = replace(state, scores=HeadScores(torch.tensor([0.0, 0.0, 5.0])))
    reader = computing.reader
    assert reader.amounts is not None
    with torch.no_grad():
        reader.amounts.answer_type[-1].bias.zero_()
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


def test_kinds_are_told_apart() -> None:
    from kgqa.qa.passages.amounts import quantity_kind

    kinds = {
        quantity_kind(Quantity(Fraction(1), kind)) for kind in (NUMBER, MONEY, PERCENT, "mass", "hectare")
    }
    assert len(kinds) == 5


def roles_in(question: str, passage: str) -> Roles:
    return roles_of(question, find_quantities(question), passage, find_quantities(passage))


@pytest.mark.parametrize(
    ("passage", "rates"),
    [
        ("Ann packed 6 boxes with 12 bottles in each box.", {1}),
        ("Tickets cost 8 euros each. Four friends went in.", {0}),
        ("Each of the 5 shelves holds 9 books and two lamps.", {1, 2}),
        ("A crate holds 24 bottles. Ten crates came.", {0}),
        ("Pia planted 4 rows of 12 trees.", {1}),
        ("The crew of 9 eats 6 tins a day.", {1}),
        ("Three books at 4 euros each and a pen for 2 euros.", {1}),
        ("He saw 5 dogs and 3 cats every week for 8 weeks.", {1}),
        ("A man has 6 hens. He sold two.", set()),
    ],
)
def test_what_holds_for_each_is_a_rate(passage: str, rates: set[int]) -> None:
    assert roles_in("", passage).rates == rates


@pytest.mark.parametrize(
    ("question", "passage", "signs"),
    [
        ("When should the bus have left?", "It left at 9:05, five minutes late.", {1: "-"}),
        ("When did the bus leave?", "It should leave at 9:00, but was five minutes late.", {1: "+"}),
        ("When was the train due?", "It came at 14:30, ten minutes early.", {1: "+"}),
        ("When did Ludo get up?", "He rose an hour before his train, at 7:40.", {0: "-"}),
        ("How old is Ann?", "Ann is two years older than Ben, who is 9.", {0: "+"}),
        ("How old is Ben?", "Ann, 11, is two years older than Ben.", {1: "-"}),
        ("How old is Ben?", "Ann is 11.", {}),
        ("How many has Mia now?", "Mia had 9 nuts. She gave 3 to Sam and lost 2.", {1: "-", 2: "-"}),
        ("How many were lost or given?", "Mia had 9 nuts. She gave 3 to Sam and lost 2.", {}),
        ("How many has Mia now?", "Mia had 9 nuts. Sam gave her 3.", {}),
        ("How many has Mia now?", "Mia had 9 nuts. Sam gave 3 nuts to Mia and 2 to Bo.", {1: "+"}),
        ("How many has Mia now?", "Mia had 9 nuts. Sam lost 3 and Bo ate 2.", {}),
        ("How many are left?", "There were 9 nuts. Sam lost 3 and Bo ate 2.", {1: "-", 2: "-"}),
        ("How long did Ben take?", "Ann took 31 minutes, two minutes ahead of Ben.", {1: "+"}),
        ("How long did Ann take?", "Ben took 33 minutes, two minutes behind Ann.", {1: "-"}),
    ],
)
def test_a_difference_is_joined_by_its_sign(question: str, passage: str, signs: dict[int, str]) -> None:
    assert roles_in(question, passage).signs == signs


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("What was the average harvest?", "/"),
        ("How many more did she have than Ben?", "-"),
        ("How many are left?", "-"),
        ("How many jumps did they make together?", "*+"),
        ("How many days does a packet last?", "/"),
        ("What did each pay?", "/"),
        ("What did Luis pay?", ""),
    ],
)
def test_a_question_asks_for_the_last_step(question: str, last: str) -> None:
    assert "".join(sorted(roles_in(question, "They shared 42 dollars equally.").last)) == last


def objections_to(passage: str, question: str, *steps: tuple[int, int, str]) -> int:
    """Objections to the last of some steps over the quantities of a passage."""
    made = [Operation(first, second, OPERATORS.index(operator)) for first, second, operator in steps]
    known = list(quantities(passage))
    for step in made[:-1]:
        known.append(possible(known)[step])
    return objections(roles_in(question, passage), Expression(tuple(made[:-1]), tuple(known), 0.0), made[-1])[
        1
    ]


def test_wording_objects_to_operations() -> None:
    tickets = "Tickets cost 8 euros each. Four friends went in and paid 5 euros for tea."
    paid = "How much did they pay altogether?"
    assert objections_to(tickets, paid, (0, 1, "*")) == 0
    assert objections_to(tickets, paid, (0, 1, "*"), (2, 3, "+")) == 0
    assert objections_to(tickets, paid, (0, 2, "+")) > 0  # a rate and what is none
    assert objections_to(tickets, paid, (0, 1, "*"), (0, 3, "+")) > 1
    assert objections_to(tickets, paid, (0, 1, "/")) == 1  # not the last step that is asked for
    bus = "The bus left at 9:05, five minutes late."
    planned = "When should the bus have left?"
    assert [objections_to(bus, planned, (0, 1, operator)) for operator in "+-"] == [1, 0]
    nuts, now = "Mia had 9 nuts. She gave 3 to Sam and lost 2.", "How many has Mia now?"
    assert [objections_to(nuts, now, (0, 2, operator)) for operator in "+-"] == [1, 0]
    assert [objections_to(nuts, now, (1, 2, operator)) for operator in "+-"] == [0, 2]
    race = "Ann took 31 minutes, two minutes ahead of Ben."
    assert [objections_to(race, "How long did Ben take?", (0, 1, operator)) for operator in "+-"] == [0, 1]
    coat, sold = "A coat of 80 euros, 25 % off.", "The first sold 20 copies, another twice as many."
    assert objections_to(coat, "", (0, 1, "*"), (0, 2, "-")) == 0
    assert objections_to(sold, "", (0, 1, "*"), (0, 2, "+")) == 0


def test_a_total_of_which_only_rates_are_told_is_computed(computing: Answerer) -> None:
    passage = "Ann packed 6 boxes with 12 bottles in each box."
    asked = [
        "How many bottles did Ann pack?",
        "How many bottles are in one box?",
        "How many boxes did Ann pack?",
    ]
    sums = [sum_of(Question(question, passage=Passage(passage)), computing.reader) for question in asked]
    assert [each and each.chance(0.3) >= 0.9 for each in sums] == [True, False, False]
    assert sums[0] is not None and not is_answered(read_as(asked[0], passage, "12"), sums[0])


@pytest.mark.parametrize(
    ("question", "passage", "of_score"),
    [
        ("How many goals were scored in total?", "Ajax beat Lyon 3-1 before 2,140 fans.", True),
        ("How many goals in total?", "The final ended 3–1 for Brazil.", True),
        ("How many goals did Lyon score?", "Ajax beat Lyon 3-1.", False),
        ("How many goals were there by half-time?", "Ajax beat Lyon 3-1.", False),
        ("How many goals were scored?", "Ajax led 1-0, then won 3-1.", False),
        ("How many goals were scored?", "Ajax beat Lyon 3-1 with 2 goals by Kees.", False),
        ("How many buns were sold?", "The shop sells 10-15 a day.", False),
        ("How many children won?", "The game was won by those aged 6-12.", False),
        ("How many goals were scored?", "The game is from 3-5. Ajax won.", False),
        ("How many goals were scored?", "The game is at 3-5 pm. Ajax won.", False),
        ("How many goals were scored?", "Bus 10-12 was late for the game.", False),
        ("Who won?", "Ajax beat Lyon 3-1.", False),
    ],
)
def test_both_sides_of_a_score_are_added(
    question: str, passage: str, of_score: bool, computing: Answerer
) -> None:
    found = sum_of(Question(question, passage=Passage(passage)), computing.reader)
    assert (found is not None and found.roles.of_score) is of_score
    if found is not None and of_score:
        assert [quantity.value for quantity in found.quantities] == [3, 1]
        assert found.chance(0.1) >= 0.9 and found.roles.last == {"+"}


@pytest.mark.parametrize(
    ("question", "passage", "only_times"),
    [
        ("How long did the ride take?", "Ann left at 6:50 and got to the mill at 8:15.", True),
        ("How many years was it open?", "The shop opened in 1998 and closed in 2011.", True),
        ("How many minutes was it open?", "The shop opened in 1998 and closed in 2011.", False),
        ("How long did the ride take?", "Ann left at 6:50. Ben left at 8:15.", False),
        ("How long did it stand?", "The castle was built in 1200. It burned down in 1450.", True),
        ("How long was the strike?", "The strike began on 3 May and ended on 10 May.", True),
        ("How old was Otto when he died?", "Otto was born in 1901 and died in 1980.", True),
        ("How old was Otto when he died?", "Otto was born in 1901 and married in 1925.", False),
        ("How long is the bridge?", "The old one, 80 metres long, stood from 1902 to 1989.", False),
        ("How long ago was it?", "The shop opened in 1998 and closed in 2011.", False),
        ("When did she arrive?", "Ann left at 6:50 and got to the mill at 8:15.", False),
        ("How long is the train?", "The train left at 9:00 and arrived at 11:00.", False),
        ("How long is the road?", "Work on the road started in 1950 and finished in 1960.", False),
        ("How long was the shop closed?", "The shop opened in 1900 and closed in 1980.", False),
        ("How long was the shop open?", "The shop opened in 1900 and closed in 1980.", True),
        ("How long was Ann away?", "Ann came home at 16:00 and left again at 18:00.", False),
        ("How long is the museum open?", "The museum opens at 9:00 and the cafe closes at 18:00.", False),
        ("How old was her son when she went?", "Ann was born in 1950 and went in 1980 with her son.", False),
        ("How old was his wife when she died?", "Ben was born in 1950 and his wife died in 1975.", False),
        ("How long did it last?", "The war began on 3 May 1914 and ended on 7 May 1918.", True),
    ],
)
def test_two_times_tell_a_duration(question: str, passage: str, only_times: bool) -> None:
    roles = roles_of(question, find_quantities(question), passage, find_quantities(passage))
    assert roles.only_times is only_times
    each = Sum([], 0, (), (), (), roles)
    surely = 0.9 if roles.begin_and_end else 0.01
    assert (
        (each.chance(0.03) > 0.6) is only_times and each.chance(1e-4) <= surely and each.chance(0.97) == 0.97
    )


@pytest.mark.parametrize(
    ("question", "passage", "surely"),
    [
        ("How long did the war last?", "The war began in 1914 and ended in 1918.", True),
        ("How long was the airport closed?", "Fog kept the airport closed from 4:30 to 9:15.", True),
        ("How long is the journey?", "The train leaves Oslo at 8:15 and gets to Lund at 11:20.", True),
        ("How long was the break?", "The film runs from 8:15 to 10:00, with a break.", False),
        ("How long did the war last?", "The war began on 3 May 1914 and ended on 7 May 1918.", False),
        ("How long did the cat sleep?", "The shop opened in 1998 and closed in 2011.", False),
        ("How long did the shop stay?", "The shop opened in 1998 and Tom was born in 2011.", False),
    ],
)
def test_what_began_and_ended_has_a_duration(question: str, passage: str, surely: bool) -> None:
    roles = roles_of(question, [], passage, find_quantities(passage))
    assert (Sum([], 0, (), (), (), roles).chance(0.001) == 0.9) is surely


@pytest.mark.parametrize(
    ("question", "passage", "stated"),
    [
        ("How much do tickets cost?", "Tickets cost 8 euros each. Four friends went in.", True),
        ("How much does a ticket cost?", "Tickets cost 8 euros each. Four friends went in.", True),
        ("How much do the tickets cost?", "Tickets cost 8 euros each. Four friends went in.", False),
        ("How many apples did Ann buy?", "Ann bought 4 apples and 6 pears.", True),
        ("How many fruits did Ann buy?", "Ann bought 4 apples and 6 pears.", False),
        ("How many apples did Ann buy?", "Ann bought 4 apples on Monday and 6 on Friday.", False),
        ("How many apples does Ann have?", "Ann has 4 bags with 5 apples.", False),
        ("How many roses did Ann buy?", "Ann bought 3 vases containing 7 roses.", False),
        ("How many apples has Ann now?", "Ann has 12 apples now. She gave 5 to Ben.", True),
        ("How many apples has Ann now?", "Ann has 4 apples and 6 pears.", False),
        (
            "How many apples did Ann buy?",
            "Ann bought 4 apples, and her son ate 3 pears. Ben bought two more apples.",
            False,
        ),
    ],
)
def test_what_is_stated_in_the_question_s_words_is_not_computed(
    question: str, passage: str, stated: bool
) -> None:
    roles = roles_of(question, [], passage, find_quantities(passage))
    assert roles.is_stated is stated
    assert (Sum([], 0, (), (), (), roles).chance(0.9) < 0.2) is stated


def test_what_each_has_is_multiplied_with_how_many_there_are() -> None:
    boxes = "Each box holds 6 eggs. Ann has 4 boxes."
    for question in ("How many eggs does Ann have?", "How many eggs altogether?"):
        roles = roles_of(question, [], boxes, find_quantities(boxes))
        assert roles.only_rates and roles.last == {"*"}
    passage = "Each box holds 6 eggs. Ann has 4 hens."
    assert not roles_of("How many eggs does Ann have?", [], passage, find_quantities(passage)).only_rates
    lost = "Each box holds 6 eggs. Ann has 4 boxes, and Ben lost a few eggs."
    for question in ("How many eggs are left?", "How many eggs does Ben have?"):
        assert not roles_of(question, [], lost, find_quantities(lost)).only_rates


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


def test_a_list_is_no_count(computing: Answerer) -> None:
    zoo = "I saw a lion, two monkeys and a snake for one hour and ten minutes."
    asked = [
        ("How many animals did I see?", "two monkeys and a snake", True),
        ("How many monkeys did I see?", "two monkeys", False),
        ("What did I see?", "two monkeys and a snake", False),
        ("How many minutes did I see them?", "one hour and ten minutes", False),
    ]
    for question, part, is_list in asked:
        state = read_as(question, zoo, part)
        assert is_list_for_count(state) is is_list
        (found,) = compute_amounts((state,), computing.reader)
        assert not is_list or found.doubt >= 0.9


def test_what_had_to_be_computed_is_told_with_less_confidence(computing: Answerer) -> None:
    reader = computing.reader
    assert reader.amounts is not None
    with torch.no_grad():
        reader.amounts.answer_type[-1].bias.zero_()
    reader.card["amounts"] = {"layer": 1, "threshold": 0.6}
    (state,) = compute_amounts((read_as(QUESTION, PASSAGE, "4 euros"),), reader)
    assert state.computed is None and state.doubt == pytest.approx(0.5)
    (decided,) = decide((state,), DecisionConfig())
    assert decided.confidence == pytest.approx(0.5)
