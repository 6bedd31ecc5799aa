from kgqa.language.relations import is_by, is_kind, is_measure, is_mentioned, narrows, nouns_of
from kgqa.types import Relation

KIND, NARROWER = Relation("rdf:type", "type", "is a"), Relation("rdfs:subClassOf", "subclass of")


def test_what_a_thing_is_and_what_a_kind_is() -> None:
    assert is_kind(KIND) and is_kind(NARROWER) and not is_kind(Relation("x:owns", "owns"))
    assert narrows(NARROWER) and not narrows(KIND)


def test_measures_and_the_words_that_ask_for_them() -> None:
    assert is_measure(Relation("x:weight", "weight")) and not is_measure(Relation("x:crew", "crew"))
    assert nouns_of("heavy") == ["weight", "mass"] and nouns_of("green") == []


def test_who_did_it_and_what_a_text_mentions() -> None:
    assert is_by(Relation("x:builtBy", "built by")) and not is_by(Relation("x:builtIn", "built in"))
    assert is_mentioned(Relation("x:wonBy", "won by"), "Who won it?")
    assert not is_mentioned(Relation("x:wonBy", "won by"), "Who sings?")
