import numpy as np

from kgqa.data.synthetic.passages import Facts, QuestionGroup, find_groups, read_generic_verbs, read_templates
from kgqa.types import Edges, Ints, Relation

FACTS = [
    ("dig the foundation", "HasInstrument", "excavator"),
    ("build a house", "HasSubevent", "dig the foundation"),
    ("build a house", "HasAgent", "builder"),
    ("fly south", "HasAgent", "stork"),
    ("stork", "IsA", "bird"),
    ("hand", "UsedFor", "write a letter"),
    ("trowel", "MadeOf", "steel"),
]


class Graph:
    """Those facts, behind the protocol's bulk questions."""

    name, hash = "toy", "0"
    table = sorted({name for head, _, tail in FACTS for name in (head, tail)})
    entity_count = len(table)
    relations = [Relation(name, name) for name in sorted({fact[1] for fact in FACTS})]

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        names = [relation.name for relation in self.relations]
        rows = [(self.table.index(h), names.index(r), self.table.index(t)) for h, r, t in FACTS]
        array = np.array(rows, dtype=np.int32)
        return Edges(array[:, 0], array[:, 1], array[:, 2], np.ones(len(rows), dtype=np.float32))

    def labels(self, entities: Ints) -> list[str]:
        return [self.table[e] for e in entities]


def groups() -> tuple[Facts, dict[str, list[QuestionGroup]]]:
    facts = Facts(Graph())  # type: ignore[arg-type]
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
