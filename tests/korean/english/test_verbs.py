from __future__ import annotations

import pytest

from kgqa.korean.english.nouns import Said
from kgqa.korean.english.verbs import Verbs, finite, participle
from kgqa.korean.reading.clauses import Roles, words_of
from kgqa.korean.reading.parse import parse


def verb(text, labels=None, said=None):
    clause = parse(text)[0].clauses[-1]
    said = said or Said()
    said.beside = frozenset(words_of(clause))
    english, roles = Verbs(text, (labels or {}).get, said).verb(clause, Roles.of(clause))
    return english, [p.nouns[-1].form for p in roles.objects]


@pytest.mark.parametrize(
    ("text", "english", "objects"),
    [
        ("모자를 썼다.", "wear", ["모자"]),
        ("편지를 썼다.", "write", ["편지"]),
        ("감기에 걸렸다.", "catch a cold", []),
        ("사진을 찍었다.", "take a photo", []),
        ("방이 조용해졌다.", "become quiet", []),
        ("비행기가 무서웠다.", "be scared", []),
        ("창문이 깨졌다.", "break", []),
        ("의사였다.", "be", []),
        ("옷이 찢어졌다.", "tear", []),
    ],
)
def test_predicates(text, english, objects):
    assert verb(text) == (english, objects)


def test_a_verb_that_the_dictionary_lacks_is_found_in_the_graph():
    assert verb("코를 훌쩍였다.", {"코를 훌쩍이다": "sniffle"}) == ("sniffle", [])


def test_a_verb_keeps_the_sense_of_the_passage():
    said = Said()
    verb("목도리를 떴다.", said=said)
    assert verb("무엇으로 떴을까?", said=said)[0] == "knit"


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("팠다.", "dug"),
        ("파지 않았다.", "did not dig"),
        ("파고 있다.", "is digging"),
        ("팔 수 있다.", "can dig"),
        ("파야 했다.", "had to dig"),
    ],
)
def test_tense_and_helpers(text, english):
    clause = parse(text)[0].clauses[0]
    said = finite("dig", clause.predicate, False, "he")
    assert " ".join(piece.text for piece in said) == english


def test_participles():
    assert (participle("break"), participle("dig"), participle("wash")) == ("broken", "dug", "washed")
