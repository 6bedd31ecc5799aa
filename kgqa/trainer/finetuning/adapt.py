"""Fine-tune a reader without a recipe: on questions generated from a graph's facts, or on the user's own."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

import numpy as np

from kgqa.graph.linking.label_keys import is_value
from kgqa.graph.relation_types import is_type_relation
from kgqa.graph.suggested_questions import is_date_literal
from kgqa.models.adapters import FORMS, READING, adapter_weights
from kgqa.models.arithmetic_head import FILE as ARITHMETIC_HEAD
from kgqa.models.collation.input_config import input_config_of
from kgqa.models.fact_map import FILE as FACT_MAP
from kgqa.models.pretrained import save_half, write_card
from kgqa.models.reader import read_card
from kgqa.settings import write_whole
from kgqa.trainer.checkpoint import FILE
from kgqa.trainer.data.mixture import MixturePart, load_examples, split_off
from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader
from kgqa.trainer.loop import TrainResult
from kgqa.trainer.recipe import checked_recipe
from kgqa.types import Example, InputError, KnowledgeGraph, Question, Relation
from kgqa.verbalize.questions import relation_question

# Questions about a graph come from templates with the relation's label, the baseline of question generation over KBs
# (Serban et al., 2016, section 4). The facts of some entities are held out, for evaluation before and after training.

MAX_ENTITIES = 3_000
"""Maximum number of entities whose facts are asked about; for larger graphs, they are sampled."""
MAX_FACTS = 50
MIN_QUESTIONS = 20
HELD_OUT_ENTITIES = 0.25
"""Share of the entities whose facts are held out."""
_SHARES = {"one-hop": 40, "reverse": 22, "two-hop": 23, "unanswerable": 15}
_PLAIN = (
    "What is the {r} of {h}?",
    "{h}: {r}?",
    "Tell me the {r} of {h}.",
    "Which {r} does {h} have?",
    "What do you know about the {r} of {h}?",
)
_BACK = (
    "What has the {r} {t}?",
    "Of what is {t} the {r}?",
    "Which one has {t} as its {r}?",
    "{t} is the {r} of what?",
)


class _LabelFact(NamedTuple):
    head: int
    relation: int
    tail: int


def graph_questions(graph: KnowledgeGraph, count: int) -> tuple[list[Example], list[Example]]:
    """Up to `count` training questions about a graph's facts, and up to a third as many about held-out entities.

    Question types are one-hop, reverse, two-hop and unanswerable (the entity has no such fact, though others have).
    """
    if graph.entity_count is None:
        raise InputError(
            f"{graph.name}: the facts of an endpoint cannot be listed; import it first (kgqa graph import)"
        )
    maker = _GraphQuestionMaker(graph, random.Random("adapt/0"))
    train = list(maker.questions(count, False))
    held = list(maker.questions(max(count // 3, MIN_QUESTIONS), True))
    if len(train) < MIN_QUESTIONS or not held:
        raise InputError(
            f"{graph.name}: only {len(train)} questions can be generated from its facts, too few to adapt a reader"
        )
    return train, held


class _GraphQuestionMaker:
    def __init__(self, graph: KnowledgeGraph, rng: random.Random) -> None:
        self.graph, self.rng = graph, rng
        size = graph.entity_count or 0
        chosen = rng.sample(range(size), min(size, MAX_ENTITIES))
        edges = graph.neighbours(np.array(sorted(chosen), dtype=np.int32), MAX_FACTS)
        ends = np.unique(np.concatenate([edges.head, edges.tail]))
        self.label = dict(zip(ends.tolist(), graph.labels(ends), strict=True))
        self.name = dict(zip(ends.tolist(), graph.names(ends), strict=True))
        rows = zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), strict=True)
        self.facts = [_LabelFact(*row) for row in rows if self._can_be_asked(*row)]
        self.of_head: dict[int, list[_LabelFact]] = defaultdict(list)
        self.of_tail: dict[int, list[_LabelFact]] = defaultdict(list)
        for fact in self.facts:
            self.of_head[fact.head].append(fact)
            self.of_tail[fact.tail].append(fact)
        # by a hash of its name, so that the same entities are held out whatever else is in the graph
        self.held = {fact.head for fact in self.facts if _draw(self.name[fact.head]) < HELD_OUT_ENTITIES}

    def _can_be_asked(self, head: int, relation: int, tail: int) -> bool:
        known, ends = self.graph.relations[relation], (self.label[head], self.label[tail])
        is_worded = all(ends) and max(map(len, ends)) <= 60 and bool(known.label or known.words)
        return is_worded and head != tail and not is_value(self.name[head]) and not is_type_relation(known)

    def questions(self, count: int, held: bool) -> Iterator[Example]:
        """Questions about the facts of held-out entities, or of all others."""
        facts = [fact for fact in self.facts if (fact.head in self.held) == held]
        seen: set[str] = set()
        for _ in range(4 * count if facts else 0):
            kind = self.rng.choices(list(_SHARES), list(_SHARES.values()))[0]
            made = getattr(self, f"_{kind.replace('-', '_')}")(self.rng.choice(facts))
            if made is not None and made[0] not in seen:
                seen.add(made[0])
                yield Example(Question(made[0], id=f"own-{len(seen)}"), concepts=made[1], kind=kind)
            if len(seen) == count:
                return

    def _tails(self, head: int, relation: int) -> tuple[str, ...]:
        return self._labels(fact.tail for fact in self.of_head[head] if fact.relation == relation)

    def _labels(self, ends: Iterator[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.label[end] for end in ends))

    def _asking(self, relation: int, about: str, dated: bool) -> str:
        if self.rng.random() < 0.5:
            return relation_question(self.graph.relations[relation], about, dated)
        return self.rng.choice(_PLAIN).format(r=self._role(relation), h=about)

    def _role(self, relation: int) -> str:
        known = self.graph.relations[relation]
        return (known.label or known.words).removeprefix("has ")

    def _one_hop(self, fact: _LabelFact) -> tuple[str, tuple[str, ...]]:
        text = self._asking(fact.relation, self.label[fact.head], is_date_literal(self.name[fact.tail]))
        return text, self._tails(fact.head, fact.relation)

    def _reverse(self, fact: _LabelFact) -> tuple[str, tuple[str, ...]] | None:
        if is_value(self.name[fact.tail]):
            return None
        known, tail = self.graph.relations[fact.relation], self.label[fact.tail]
        text = self.rng.choice(_BACK).format(r=self._role(fact.relation), t=tail)
        if known.inverse and self.rng.random() < 0.5:
            text = relation_question(Relation("", known.inverse), tail)
        return text, self._labels(f.head for f in self.of_tail[fact.tail] if f.relation == fact.relation)

    def _two_hop(self, fact: _LabelFact) -> tuple[str, tuple[str, ...]] | None:
        onward = [f for f in self.of_head[fact.tail] if f.relation != fact.relation and f.tail != fact.head]
        if not onward or len(self._tails(fact.head, fact.relation)) > 1:
            return None
        second = self.rng.choice(onward)
        middle = f"the {self._role(fact.relation)} of {self.label[fact.head]}"
        text = self._asking(second.relation, middle, is_date_literal(self.name[second.tail]))
        return text, self._tails(fact.tail, second.relation)

    def _unanswerable(self, fact: _LabelFact) -> tuple[str, tuple[str, ...]] | None:
        other = self.rng.choice(self.facts)
        mine = {f.relation for f in (*self.of_head[fact.head], *self.of_tail[fact.head])}
        if other.relation in mine:
            return None
        return self._asking(other.relation, self.label[fact.head], is_date_literal(self.name[other.tail])), ()


def _draw(name: str) -> float:
    """Hash of a name to a number from 0 to 1."""
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest()) / 2**32


def write_questions(examples: Sequence[Example], path: Path) -> None:
    """Write questions with their answers as JSON lines."""
    rows = [
        {"id": e.question.id, "question": e.question.text, "kind": e.kind, "answers": list(e.concepts)}
        | {"source": "knowledge" if e.concepts else "none"}
        for e in examples
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if (
        path.is_file()
        and not (path.parent / FILE).is_file()
        and path.read_text(encoding="utf-8", errors="replace") != text
    ):
        raise InputError(f"{path}: exists already; use another --out")
    write_whole(path, text)


def short_recipe(
    model: Path, data: Sequence[dict[str, Any]], name: str, minutes: float, steps: int | None
) -> dict[str, Any]:
    """Values of a recipe that fine-tunes a reader for a short time."""
    if (model / "entities.safetensors").exists():
        raise InputError(f"{model}: readers with entity vectors cannot be adapted; use kgqa-base")
    card = read_card(model)
    rates = {"learning_rate": 3e-4, "encoder_learning_rate": 3e-5, "warmup": 0.1}
    return {
        "name": name,
        "encoder": {"folder": str(model), "dropout": 0.0, "freeze_words": True},
        "reasoner": card["reasoner"],
        "input": input_config_of(card).model_dump(),
        "data": list(data),
        "paraphrase": 0.0,
        "store_subgraphs": False,
        "trainer": {"max_minutes": minutes, "max_steps": steps, "threads": 1, **rates},
    }


FITTED = ("decision", "answer_type", "forms", "amounts")
"""Entries of a card that are fitted on the weights of a reader."""


def train_short(model: Path, recipe: ReaderRecipe, out: Path) -> TrainResult:
    """Fine-tune a reader. What was fitted on its weights is kept, since a short training changes these little: the
    calibration, the adapter for logical forms, the arithmetic head and the fact map.
    """
    result, before = train_reader(recipe, out), read_card(model)
    if recipe.encoder.adapter:  # its export has all files of the reader
        return result
    fitted: dict[str, Any] = {key: before[key] for key in FITTED if key in before}
    for name in (FORMS, ARITHMETIC_HEAD, FACT_MAP):
        if (model / name).is_file():
            copyfile(model / name, out / "export" / name)
    for name in (FORMS, ARITHMETIC_HEAD):  # the training began with the adapter for reading merged
        if (model / name).is_file() and (model / READING).is_file():
            save_half(adapter_weights(model / name, over_merged=True), out / "export" / name)
    write_card(out / "export", {**read_card(out / "export"), **fitted})
    return result


def adapt(
    model: Path, graph: str, examples: Sequence[Example], out: Path, minutes: float, steps: int | None = None
) -> Path:
    """Fine-tune a reader on questions over a graph, and return the folder of the adapted reader.

    Questions over synthetic graphs are mixed in, against catastrophic forgetting.
    """
    out.mkdir(parents=True, exist_ok=True)
    questions = out / "questions.jsonl"
    write_questions(examples, questions)
    data: list[dict[str, Any]] = [
        {"name": str(questions), "graph": graph, "weight": 4, "batch_questions": 8},
        {
            "name": "synthetic-graphs",
            "graph": "none",
            "limit": 400,
            "seed": 77,
            "weight": 2,
            "batch_questions": 8,
        },
    ]
    name = f"{read_card(model).get('name') or model.name}, adapted to {Path(graph).name.split('.')[0]}"
    recipe = ReaderRecipe.model_validate(short_recipe(model, data, name, minutes, steps))
    train_short(model, recipe, out)
    return out / "export"


# Fine-tune a reader on the user's questions without a recipe; held-out rows measure the gain.

HELD_OUT = 0.2
"""Share of rows held out of training; all rows of a passage are on the same side."""
MIN_ROWS = 10
MAX_MEASURED = 200
"""Maximum number of held-out rows in the evaluations before, during and after the training."""


def own_recipe(
    model: Path, data: Path, graph: str, minutes: float, overrides: Sequence[str] = ()
) -> ReaderRecipe:
    """The recipe that fine-tunes a reader on the user's questions over a graph."""
    rows = [{"name": str(data), "graph": graph, "batch_questions": 8}]
    values = short_recipe(model, rows, data.name.split(".")[0], minutes, None)
    values |= {"held_out": HELD_OUT, "evaluate_questions": MAX_MEASURED}
    values["trainer"] |= {"best_metric": "accuracy", "evaluate_every_steps": 50, "log_every_steps": 10}
    return checked_recipe(values, overrides, ReaderRecipe, str(data))


def split_rows(recipe: ReaderRecipe) -> tuple[list[Example], list[Example]]:
    """The training rows of a recipe, and the held-out ones."""
    parts = [MixturePart(settings, load_examples(settings, None), []) for settings in recipe.data]
    sides = split_off(parts, recipe.held_out)
    kept, held = ([row for part in side for row in part.examples] for side in sides)
    if len(kept) < MIN_ROWS or not held:
        raise InputError(
            f"{recipe.data[0].name}: {len(kept)} training rows and {len(held)} held-out rows are too few; "
            f"give {2 * MIN_ROWS} or more, about several passages"
        )
    return kept, held
