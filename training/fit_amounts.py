"""The arithmetic head of a reader, fitted on the token states of its encoder: `python training/fit_amounts.py READER`.

Rows of `training/data/amounts/train` with an expression are what is computed; rows of theirs without one, and rows of
the reading sets and of SQuAD whose passage has numbers and says the answer, are what is not. A second version of each
computed row has other numbers. A fifth, by groups of rows that share a passage, is held out, and measured; on it the
threshold and the calibration are fitted, which go into the reader's card. The head that is written is fitted on all
rows. The states are kept in `runs/amounts`, by reader. With KGQA_PRECISION=int8 they take half the time.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from itertools import islice, product
from math import exp, log
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from kgqa.data.datasets.json_lines import question_of
from kgqa.data.datasets.load import load_dataset
from kgqa.data.files import read_json_lines
from kgqa.evaluation import minimise
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
from kgqa.models.arithmetic_head import ArithmeticHead, save_arithmetic_head
from kgqa.models.load import LoadedReader, open_reader
from kgqa.models.pretrained import CARD, write_card
from kgqa.progress import track
from kgqa.qa.passages.amounts import (
    AmountCalibration,
    Operation,
    Options,
    Sum,
    amount_tokens,
    expressions,
    options_of,
    possible,
    results_of,
    scores_of,
    states_of,
    sum_of,
)
from kgqa.renamed import current_row
from kgqa.types import Passage, Question

DATA = Path("training/data")
COMPUTED = DATA / "amounts/train"
NOT_COMPUTED = ("reading/train", "question_types/train", "reading_practice/train", "yes_no/train")
"""Folders of rows whose answers are said, or not to be had."""
LEFT_OUT = {"amounts", "comparing"}
"""Kinds of rows there that may ask for what has to be computed."""
SQUAD = "squad1-train"
LAYER = 8
"""Of twelve: held out, layer 8 gives 210 right of 271 that are computed where layer 6 gives 189 of 251."""
EPOCHS, BATCH, RATE, DECAY = 8, 16, 1e-3, 0.05
FALSE, STRICTEST = 0.005, 0.8
"""Share of the rows of other sets that may be computed all the same, and the highest threshold for it: a single row
among a few hundred does not silence the head."""


@dataclass
class Row:
    """A question with what it takes to compute its answer; no steps for what is not to be computed."""

    group: str
    question: Question
    sum: Sum
    steps: tuple[Operation, ...] = ()
    answers: tuple[str, ...] = ()
    is_other: bool = False
    """Whether it is from a set that asks for no amounts."""
    options: list[Options] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)

    def prepare(self) -> None:
        """The operations possible at each step, and which of them is right."""
        quantities = list(self.sum.quantities)
        for n, step in enumerate(self.steps):
            found = possible(quantities)
            options = options_of(found)
            self.options.append(options)
            self.targets.append(2 * options.steps.index(step) + (n == len(self.steps) - 1))
            quantities.append(found[step])


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
MIRRORED = {"-": "r-", "/": "r/", ">=": "<=", "<=": ">=", ">": "<", "<": ">"}
MOST = 300
"""Trees that are tried for a row."""


def steps_for(
    expression: str, quantities: Sequence[Quantity], question: str, answers: Sequence[str]
) -> tuple[Operation, ...]:
    """The steps that compute an expression like "20 - 3 * 4" or "9:30 + 95" and give one of the answers; none where its
    numbers are not among the quantities."""
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
        if all(step.first < step.second for step in steps):
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
    match NAMES[type(node.op)]:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right if right else Fraction(0)


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


def computed_rows(paths: Sequence[Path], reader: LoadedReader) -> list[Row]:
    """The rows of amounts, each with a second version with other numbers."""
    found, lost = [], 0
    rng = random.Random(0)
    for path in paths:
        for _, raw in read_json_lines(path):
            question = Question(raw["question"], passage=Passage(raw["passage"]))
            each = sum_of(question, reader)
            if each is None:
                continue
            answers = raw.get("answers") or ["yes" if current_row(raw).get("yes_no") else "no"]
            if "expression" not in raw:
                found.append(Row(raw["pair"], question, each))
                continue
            steps = steps_for(raw["expression"], each.quantities, question.text, answers)
            if not steps:
                lost += 1
                continue
            found.append(Row(raw["pair"], question, each, steps, tuple(answers)))
            other = with_other_numbers(found[-1], reader, rng)
            found += [other] if other else []
    print(json.dumps({"computed": sum(bool(r.steps) for r in found), "no_steps": lost}))
    return found


def with_other_numbers(row: Row, reader: LoadedReader, rng: random.Random) -> Row | None:
    """A row with other whole numbers in figures; the same steps compute its answer. None where they do not."""
    for _ in range(8):
        new: dict[str, str] = {}

        def other(match: re.Match[str], new: dict[str, str] = new) -> str:
            value = int(match[0].replace(",", ""))
            if match[0] not in new:
                drawn = max(2, round(value * rng.uniform(0.5, 1.8)))
                new[match[0]] = str(drawn - drawn % 10 if value % 10 == 0 and drawn >= 10 else drawn)
            return new[match[0]]

        number = re.compile(r"(?<![\w.,:/])(?:[2-9]|[1-9]\d|[1-9]\d\d)(?![\w:/%]|[.,]\d)")
        texts = [number.sub(other, text) for text in (row.question.text, row.question.passage_text)]
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
            return Row(row.group, question, each, row.steps, (answer_in_words(after[-1], question.text),))
    return None


def other_rows(reader: LoadedReader, own: int, squad: int) -> list[Row]:
    """Rows of the reading sets and of SQuAD with numbers in their passages, whose answer is not to be computed: `own`
    of each folder, and `squad`."""
    rng = random.Random(0)
    found = []
    for folder in NOT_COMPUTED:
        raws = [raw for path in sorted((DATA / folder).glob("*.jsonl")) for _, raw in read_json_lines(path)]
        questions = [
            question_of(raw, folder, "") for raw in raws if raw.get("kind") not in LEFT_OUT and _is_said(raw)
        ]
        found += _drawn(questions, reader, own, rng)
    examples = islice(load_dataset(SQUAD), 10 * squad)
    return found + _drawn([e.question for e in examples], reader, squad, rng)


def _is_said(raw: dict[str, Any]) -> bool:
    """Whether a row's passage says its answer, or nothing does."""
    passage = str(raw.get("passage") or "")
    answers = [answer for answer in raw.get("answers") or () if isinstance(answer, str)]
    stated = not answers or any(answer.lower() in passage.lower() for answer in answers)
    return bool(passage) and stated and "choices" not in raw


def _drawn(questions: Sequence[Question], reader: LoadedReader, most: int, rng: random.Random) -> list[Row]:
    """Up to `most` of the questions that have quantities: half of them ask for a number, where there are as many."""
    asks = re.compile(r"\bhow (?:many|much|long|old|far)\b|\bwhen\b|percent|\btime\b", re.IGNORECASE)
    found: list[Row] = []
    chosen = list(questions)
    rng.shuffle(chosen)
    for is_number, share in ((True, most // 2), (False, most)):
        for question in chosen:
            if len(found) >= share:
                break
            if (
                is_number is bool(asks.search(question.text))
                and (each := sum_of(question, reader)) is not None
            ):
                group = blake2b(question.passage_text.encode(), digest_size=8).hexdigest()
                found.append(Row(group, question, each, is_other=True))
    return found


def is_held_out(row: Row) -> bool:
    """Whether a row is in the fifth that is held out."""
    return blake2b(row.group.encode(), digest_size=4).digest()[0] % 5 == 0


def encoded(rows: Sequence[Row], reader: LoadedReader, path: Path, layer: int) -> list[Tensor]:
    """States (T, H) of each row, from the file that holds them, or written to it."""
    if path.exists():
        flat, sizes = torch.load(path, mmap=True)
        return list(flat.split(sizes.tolist()))
    order = sorted(range(len(rows)), key=lambda n: len(rows[n].sum.ids))
    states: dict[int, Tensor] = {}
    for at in track(range(0, len(order), 8), "states"):
        part = order[at : at + 8]
        made = reader.token_states([(rows[n].sum.ids, rows[n].sum.passage_at) for n in part], layer)
        states |= {n: own.half() for n, own in zip(part, made, strict=True)}
    found = [states[n] for n in range(len(rows))]
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save((torch.cat(found), torch.tensor([len(own) for own in found])), path)
    return found


# Fitting and measuring.


def fitted(
    rows: Sequence[Row], states: Sequence[Tensor], epochs: int = EPOCHS, seed: int = 0
) -> ArithmeticHead:
    """A head fitted on rows."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    head = ArithmeticHead(states[0].shape[1]).train()
    optimizer = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=DECAY)
    total = epochs * len(batches([len(own) for own in states], random.Random(0)))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=total, pct_start=0.1)
    for _ in track(range(epochs), "epochs"):
        for part in batches([len(own) for own in states], rng):
            optimizer.zero_grad()
            loss_of(head, [rows[n] for n in part], [states[n].float() for n in part]).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return head.eval()


def batches(lengths: Sequence[int], rng: random.Random) -> list[list[int]]:
    """Indices in batches at random, of rows of like length."""
    order = list(range(len(lengths)))
    rng.shuffle(order)
    pools = [
        sorted(order[at : at + 16 * BATCH], key=lengths.__getitem__)
        for at in range(0, len(order), 16 * BATCH)
    ]
    found = [pool[at : at + BATCH] for pool in pools for at in range(0, len(pool), BATCH)]
    rng.shuffle(found)
    return found


def loss_of(head: ArithmeticHead, rows: Sequence[Row], states: Sequence[Tensor]) -> Tensor:
    """Mean cross-entropy () of whether to compute, and of each right step."""
    tokens = amount_tokens([row.sum for row in rows], states)
    own = head.read(tokens)
    gold = torch.tensor([float(bool(row.steps)) for row in rows])
    loss = F.binary_cross_entropy_with_logits(head.is_computed(own, tokens), gold, reduction="sum")
    quantities = {n: states_of(own[n], row.sum) for n, row in enumerate(rows) if row.steps}
    for turn in range(max((len(row.steps) for row in rows), default=0)):
        asked = [n for n in quantities if turn < len(rows[n].steps)]
        sizes = [len(rows[n].options[turn].pairs) for n in asked]
        first = torch.tensor([0, *(len(quantities[n]) for n in asked[:-1])]).cumsum(0)
        places = [rows[n].options[turn].pairs + shift for n, shift in zip(asked, first.tolist(), strict=True)]
        texts = torch.cat([own[n, 0].expand(size, -1) for n, size in zip(asked, sizes, strict=True)])
        pairs = head.pairs(torch.cat([quantities[n] for n in asked]), torch.cat(places), texts)
        for n, mine in zip(asked, pairs.split(sizes), strict=True):
            options, target = rows[n].options[turn], rows[n].targets[turn]
            scores = scores_of(head, mine, options).flatten()
            loss = loss + F.cross_entropy(scores[None], torch.tensor([target]))
            place = options.place[target // 2]
            result = head.results(mine[place][None], options.operator[target // 2][None])
            quantities[n] = torch.cat([quantities[n], result])
    return loss / len(rows)


@dataclass
class Outcome:
    """What a head makes of a row."""

    row: Row
    chance: float
    """That it is to be computed."""
    share: float
    """Probability of the result, if it is."""
    right: bool

    @property
    def probability(self) -> float:
        """Of the result."""
        return self.chance * self.share


def outcomes(head: ArithmeticHead, rows: Sequence[Row], states: Sequence[Tensor]) -> list[Outcome]:
    """What a head makes of rows."""
    found = []
    with torch.inference_mode():
        for row, own_states in zip(rows, states, strict=True):
            tokens = amount_tokens([row.sum], [own_states.float()])
            own = head.read(tokens)
            chance = row.sum.chance(float(head.is_computed(own, tokens).sigmoid()))
            share, right = 0.0, False
            if row.steps or chance > 0.2:
                quantities, asked = states_of(own[0], row.sum), row.question.text
                ranked = expressions(head, row.sum.quantities, quantities, own[0, 0], asked, row.sum.roles)
                for text, (likely, _) in islice(results_of(ranked, row.question.text).items(), 1):
                    share, right = likely, is_right(text, row.answers)
            found.append(Outcome(row, chance, share, right and bool(row.steps)))
    return found


def calibration(found: Sequence[Outcome], layer: int) -> AmountCalibration:
    """Platt scaling of the results' probabilities, and the threshold: what is computed is more likely right than not,
    and of the rows of other sets at most a share `FALSE` is computed."""
    made = [o for o in found if o.probability > 0]
    scale, shift = 1.0, 0.0
    if made:
        logits = torch.tensor([logit(o.probability) for o in made])
        gold = torch.tensor([float(o.right) for o in made])
        weights = torch.tensor([1.0, 0.0], requires_grad=True)

        def loss() -> Tensor:
            value = F.binary_cross_entropy_with_logits(weights[0] * logits + weights[1], gold)
            return value + 1e-3 * weights.square().sum()

        minimise(loss, [weights])
        scale, shift = (round(float(w), 3) for w in weights.detach())
    even = 1 / (1 + exp(shift / scale)) if scale > 0 else 1.0
    others = sorted((o.probability for o in found if o.row.is_other), reverse=True)
    threshold = max(even, others[int(FALSE * len(others))] + 1e-3) if others else even
    return AmountCalibration(
        layer=layer, threshold=round(min(threshold, max(even, STRICTEST)), 4), scale=scale, shift=shift
    )


def logit(p: float) -> float:
    """Log-odds."""
    p = min(max(p, 1e-6), 1 - 1e-6)
    return log(p / (1 - p))


def measured(found: Sequence[Outcome], threshold: float) -> dict[str, float]:
    """How many rows are computed, and how many of these are right."""
    asked = [o for o in found if o.row.steps]
    others = [o for o in found if not o.row.steps]
    return {
        "to_compute": len(asked),
        "computed": sum(o.probability >= threshold for o in asked),
        "right": sum(o.right and o.probability >= threshold for o in asked),
        "right_if_computed": sum(o.right for o in asked),
        "others": len(others),
        "computed_wrongly": sum(o.probability >= threshold for o in others),
        "of_other_sets": sum(o.row.is_other for o in others),
        "of_these_computed": sum(o.row.is_other and o.probability >= threshold for o in others),
    }


def main() -> None:
    """Encode, fit, measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--layer", type=int, default=LAYER, help="of the encoder, from 1")
    parser.add_argument(
        "--own", type=int, default=200, help="rows of each reading set that are not to be computed"
    )
    parser.add_argument(
        "--squad", type=int, default=500, help="questions of SQuAD that are not to be computed"
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--cache", type=Path, default=Path("runs/amounts"))
    parser.add_argument("--dry-run", action="store_true", help="print what is measured, and write nothing")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    reader = open_reader(chosen.reader, "cpu")
    rows = computed_rows(sorted(COMPUTED.glob("*.jsonl")), reader) + other_rows(
        reader, chosen.own, chosen.squad
    )
    for row in rows:
        row.prepare()
    key = blake2b(
        repr((reader.card.get("checksums"), reader.precision, [r.sum.ids for r in rows])).encode(),
        digest_size=8,
    )
    states = encoded(rows, reader, chosen.cache / f"{key.hexdigest()}-{chosen.layer}.pt", chosen.layer)
    held, kept = ([n for n, row in enumerate(rows) if is_held_out(row) is part] for part in (True, False))
    head = fitted([rows[n] for n in kept], [states[n] for n in kept], chosen.epochs)
    found = outcomes(head, [rows[n] for n in held], [states[n] for n in held])
    card_of = calibration(found, chosen.layer)
    print(json.dumps({**measured(found, card_of.threshold), **card_of.model_dump()}))
    if chosen.dry_run:
        return
    save_arithmetic_head(fitted(rows, states, chosen.epochs), chosen.reader)
    card = json.loads((chosen.reader / CARD).read_text(encoding="utf-8"))
    card.pop("checksums", None)
    write_card(chosen.reader, {**card, "amounts": card_of.model_dump()})


if __name__ == "__main__":
    main()
