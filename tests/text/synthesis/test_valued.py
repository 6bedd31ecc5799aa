import random

from kgqa.text.synthesis.operations import operation_worlds
from kgqa.text.synthesis.valued import ValuedWorld, read_wordings
from kgqa.text.synthesis.worlds import LITERALS, vocabulary


def test_every_scale_is_one_of_a_relation_to_values() -> None:
    more, scales, _ = read_wordings()
    known = {(kind.head, kind.words[0]): kind.tail for kind in [*vocabulary()[0], *more]}
    assert all(known[key] in LITERALS for key in scales) and len(scales) > 40


def test_a_world_has_its_values_in_one_unit_and_writes_relations_in_one_style() -> None:
    world = ValuedWorld(random.Random(3))
    world.typed = False
    assert len({world._value("weight")[0].split()[1] for _ in range(20)}) == 1
    relations = {fact.relation for made in operation_worlds(30, seed=1) for fact in made.triples}
    assert any("_" in name for name in relations) and any(" " in name for name in relations)
    assert any(name != name.lower() and "/" not in name for name in relations)
