"""Arithmetic questions for training: an expression ("20 - 3 * 4") becomes operations on the quantities that are read in
question and passage."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from itertools import chain, islice, product
from operator import add, mul, sub
from typing import Any

from kgqa.data.datasets.load import files_of, load_dataset
from kgqa.data.files import read_json_lines
from kgqa.language.quantities import (
    CLOCK,
    DATE,
    NUMBER,
    OPERATORS,
    TIME,
    YES_NO,
    Quantity,
    answer_in_words,
    computed,
)
from kgqa.metrics import is_right
from kgqa.models.load import LoadedReader
from kgqa.qa.passages.amounts import Expression, Operation, Options, Sum, options_of, sum_of
from kgqa.renamed import current_row
from kgqa.types import Passage, Question, Source


@dataclass
class ArithmeticQuestion:
    """A question with the steps that compute its answer; none if it is not to be computed."""

    group: str
    """Key of the questions about one passage, which are held out together."""
    question: Question
    sum: Sum
    steps: tuple[Operation, ...] = ()
    answers: tuple[str, ...] = ()
    is_other: bool = False
    """Whether it is from a data set without arithmetic questions."""
    options: Sequence[tuple[Options, int]] = field(init=False)
    """The possible operations at each step, and the index of the correct one among their scores (`scores_of`)."""

    def __post_init__(self) -> None:
        self.options = _options(self.sum.quantities, self.steps, self.question.text)

    @property
    def is_held_out(self) -> bool:
        """Whether it is in the fifth that is held out for evaluation."""
        return blake2b(self.group.encode(), digest_size=4).digest()[0] % 5 == 0


def _options(
    quantities: Sequence[Quantity], steps: Sequence[Operation], question: str
) -> list[tuple[Options, int]]:
    """Raises ValueError if the head may not take one of the steps."""
    expression, found = Expression((), tuple(quantities), 0.0), []
    for n, step in enumerate(steps):
        options = options_of(expression, question)
        number, is_last = options.steps.index(step), n == len(steps) - 1
        if is_last and not options.is_asked[number]:
            raise ValueError("the result is not of the kind asked for")
        found.append((options, 2 * number + is_last))
        expression = Expression(
            (*expression.steps, step), (*expression.quantities, options.results[number]), 0.0
        )
    return found


# Expressions of the rows as operations on the quantities that are read.

Tree = int | tuple[str, Any, Any]
CONSTANTS = {Fraction(n) for n in (7, 10, 12, 24, 60, 100, 1000)}
"""Between units: rows say "2 * 60" for two hours."""
NAMES = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.GtE: ">=",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.Lt: "<",
}
COMPUTED: dict[type, Callable[[Fraction, Fraction], Fraction]] = {ast.Add: add, ast.Sub: sub, ast.Mult: mul}
MIRRORED = {"-": "r-", "/": "r/", ">=": "<=", "<=": ">=", ">": "<", "<": ">"}
MOST = 300
"""Trees that are tried for a row."""


def steps_for(
    expression: str, quantities: Sequence[Quantity], question: str, answers: Sequence[str]
) -> tuple[Operation, ...]:
    """The steps that compute an expression like "20 - 3 * 4" or "9:30 + 95" and give one of the answers; none if its
    numbers are not among the quantities, or the head may not take such steps."""
    found: list[tuple[int, tuple[Operation, ...]]] = []
    for tree in islice(_trees(quantities, _parsed(expression)), MOST):
        used = _leaves(tree)
        result = _run(quantities, tree)
        if (
            result is None
            or isinstance(tree, int)
            or not is_right(answer_in_words(result, question), answers)
        ):
            continue
        steps: list[Operation] = []
        _add_steps(tree, steps, len(quantities))
        try:
            _options(quantities, steps, question)
        except ValueError:
            continue
        found.append((len(used) - len(set(used)), tuple(steps)))
    return min(found, key=lambda each: each[0])[1] if found else ()


def _parsed(expression: str) -> ast.expr:
    clocks = re.sub(r"\b(\d+):(\d\d)\b", lambda m: f"at({int(m[1])}, {int(m[2])})", expression)
    return ast.parse(clocks, mode="eval").body


def _value(node: ast.expr) -> Fraction:
    """Value of an expression; of a clock time in minutes."""
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if isinstance(node, ast.Call):
        hours, minutes = (_value(n) for n in node.args)
        return hours * 60 + minutes
    assert isinstance(node, ast.BinOp)
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.Div):
        return left / right if right else Fraction(0)
    return COMPUTED[type(node.op)](left, right)


def _fitting(quantities: Sequence[Quantity], value: Fraction, is_clock: bool = False) -> list[int]:
    """The quantities that a number in an expression may stand for."""

    def fits(quantity: Quantity) -> bool:
        if is_clock:
            return quantity.kind == CLOCK and (quantity.value / 60 - value) % 720 == 0
        if quantity.kind == CLOCK:
            return False
        values = {quantity.written}
        if quantity.kind == TIME:
            values |= {quantity.value / each for each in (60, 3600, 86400)}
        elif quantity.kind not in (NUMBER, DATE):
            values |= {quantity.value, quantity.value * 100, quantity.value / 1000}
        return value in values

    return [n for n, quantity in enumerate(quantities) if fits(quantity)]


def _parts(node: ast.expr, operators: tuple[type, type], sign: int = 1) -> list[tuple[int, ast.expr]]:
    """Terms of a sum or factors of a product, with -1 for what is taken away or divided by."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, operators):
        inverse = sign if isinstance(node.op, operators[0]) else -sign
        return _parts(node.left, operators, sign) + _parts(node.right, operators, inverse)
    return [(sign, node)]


def _trees(quantities: Sequence[Quantity], node: ast.expr) -> Iterator[Tree]:
    """Trees over quantities that may stand for an expression."""
    if isinstance(node, ast.Compare):
        name = NAMES[type(node.ops[0])]
        for left, right in product(_trees(quantities, node.left), _trees(quantities, node.comparators[0])):
            yield name, left, right
        return
    if not isinstance(node, ast.BinOp):
        yield from _fitting(quantities, _value(node), isinstance(node, ast.Call))
        return
    is_sum = isinstance(node.op, ast.Add | ast.Sub)
    parts = _parts(node, (ast.Add, ast.Sub) if is_sum else (ast.Mult, ast.Div))
    for used, sign, value in [*_folded(parts, is_sum), ((), 1, Fraction(0))]:
        rest = [part for n, part in enumerate(parts) if n not in used]
        inner = [list(islice(_trees(quantities, each), 4)) for _, each in rest]
        for leaf in _fitting(quantities, value) if used else [-1]:
            for chosen in product(*inner):
                signed = [(s, tree) for (s, _), tree in zip(rest, chosen, strict=True)]
                yield _joined(signed if leaf < 0 else [*signed, (sign, leaf)], is_sum)


def _folded(
    parts: Sequence[tuple[int, ast.expr]], is_sum: bool
) -> Iterator[tuple[tuple[int, ...], int, Fraction]]:
    """Parts of a sum or product that one quantity may say: "2 * 60" two hours, "/ 3" a third, "60 + 30" an hour and a
    half. Their indices, the sign of the quantity, and its value."""
    plain = [n for n, (_, each) in enumerate(parts) if not isinstance(each, ast.Call | ast.Compare)]
    for place, n in enumerate(plain):
        sign, first = parts[n][0], _value(parts[n][1])
        if not is_sum and sign < 0 and first:
            yield (n,), 1, 1 / first
        for m in plain[place + 1 :]:
            other, second = parts[m][0], _value(parts[m][1])
            if is_sum and other == sign and (first % 60 == 0 or second == 60):
                yield (n, m), sign, first + second
            if not is_sum and first and second and {first, second} & CONSTANTS:
                yield (n, m), *((sign, first * second) if sign == other else (1, first**sign * second**other))


def _joined(parts: Sequence[tuple[int, Tree]], is_sum: bool) -> Tree:
    """Parts from left to right: what is added first, of that what is computed itself first."""
    ordered = sorted(
        parts, key=lambda p: (p[0] < 0, isinstance(p[1], int), p[1] if isinstance(p[1], int) else 0)
    )
    tree = ordered[0][1]
    for sign, part in ordered[1:]:
        tree = ("+-" if is_sum else "*/")[sign < 0], tree, part
    return tree


def _run(quantities: Sequence[Quantity], tree: Tree) -> Quantity | None:
    if isinstance(tree, int):
        return quantities[tree]
    operator, left, right = tree
    first, second = _run(quantities, left), _run(quantities, right)
    return None if first is None or second is None else computed(operator, first, second)


def _leaves(tree: Tree) -> list[int]:
    return [tree] if isinstance(tree, int) else _leaves(tree[1]) + _leaves(tree[2])


def _add_steps(tree: Tree, steps: list[Operation], given: int) -> int:
    """Index of a tree's result among the quantities; its steps are appended."""
    if isinstance(tree, int):
        return tree
    operator, left, right = tree
    first, second = _add_steps(left, steps, given), _add_steps(right, steps, given)
    if first > second:
        first, second, operator = second, first, MIRRORED.get(operator, operator)
    steps.append(Operation(first, second, OPERATORS.index(operator)))
    return given + len(steps) - 1


# Rows.


def computed_questions(spec: str, reader: LoadedReader) -> Iterator[ArithmeticQuestion]:
    """The rows of the files that a path or pattern names, those without an expression included; rows whose expression
    does not fit the quantities that are read are left out. Raises InputError if there is no such file."""
    for _, raw in chain.from_iterable(map(read_json_lines, files_of(spec))):
        question = Question(raw["question"], passage=Passage(raw["passage"]))
        each = sum_of(question, reader)
        if each is None:
            continue
        answers = raw.get("answers") or ["yes" if current_row(raw).get("yes_no") else "no"]
        steps: tuple[Operation, ...] = ()
        if "expression" in raw:
            steps = steps_for(raw["expression"], each.quantities, question.text, answers)
        if steps or "expression" not in raw:
            yield ArithmeticQuestion(raw["pair"], question, each, steps, tuple(answers))


_WHOLE_NUMBER = re.compile(r"(?<![\w.,:/])(?:[2-9]|[1-9]\d|[1-9]\d\d)(?![\w:/%]|[.,]\d)")


def with_other_numbers(
    row: ArithmeticQuestion, reader: LoadedReader, rng: random.Random
) -> ArithmeticQuestion | None:
    """The question with other whole numbers, whose answer the same steps compute; None if they do not."""
    for _ in range(8):
        new: dict[str, str] = {}

        def other(match: re.Match[str], new: dict[str, str] = new) -> str:
            value = int(match[0].replace(",", ""))
            if match[0] not in new:
                drawn = max(2, round(value * rng.uniform(0.5, 1.8)))
                new[match[0]] = str(drawn - drawn % 10 if value % 10 == 0 and drawn >= 10 else drawn)
            return new[match[0]]

        texts = [_WHOLE_NUMBER.sub(other, text) for text in (row.question.text, row.question.passage_text)]
        if not any(key != value for key, value in new.items()):
            return None
        question = Question(texts[0], passage=Passage(texts[1]))
        each = sum_of(question, reader)
        if each is None or [q.kind for q in each.quantities] != [q.kind for q in row.sum.quantities]:
            continue
        before, after = list(row.sum.quantities), list(each.quantities)
        for first, second, n in row.steps:
            was, result = (computed(OPERATORS[n], q[first], q[second]) for q in (before, after))
            if was is None or result is None:
                break
            if was.written.denominator == 1 and result.written.denominator != 1:
                break
            if result.kind not in (YES_NO, CLOCK) and not result.value:
                break
            before.append(was)
            after.append(result)
        else:
            answers = (answer_in_words(after[-1], question.text),)
            return ArithmeticQuestion(row.group, question, each, row.steps, answers)
    return None


KINDS_LEFT_OUT = ("amounts", "comparing")
"""Kinds of questions that other data sets have, and whose answers may have to be computed."""
MAX_READ = 20_000
"""Number of rows of another data set among which questions are drawn."""
_ASKS_FOR_NUMBER = re.compile(r"\bhow (?:many|much|long|old|far)\b|\bwhen\b|percent|\btime\b", re.IGNORECASE)


def other_questions(spec: str, reader: LoadedReader, most: int) -> Iterator[ArithmeticQuestion]:
    """Up to `most` questions of another data set about passages with quantities, whose answers are stated or not to be
    had: half of them ask for a number, if there are as many. Raises InputError as `load_dataset` does."""
    examples = [
        example
        for example in islice(load_dataset(spec), MAX_READ)
        if example.source in (Source.PASSAGE, Source.NONE) and example.kind not in KINDS_LEFT_OUT
    ]
    random.Random(0).shuffle(examples)
    found = 0
    for is_number, share in ((True, most // 2), (False, most)):
        for question in (example.question for example in examples):
            if found < share and is_number is bool(_ASKS_FOR_NUMBER.search(question.text)):
                each = sum_of(question, reader)
                if each is not None:
                    group = blake2b(question.passage_text.encode(), digest_size=8).hexdigest()
                    found += 1
                    yield ArithmeticQuestion(group, question, each, is_other=True)
