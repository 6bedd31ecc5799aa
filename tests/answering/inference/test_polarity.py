from __future__ import annotations

import pytest

from kgqa.answering.inference.polarity import read, sentence_around, turns
from kgqa.types import Span


def turned(text: str) -> set[str]:
    """Words that an odd number of others turn."""
    words = read(text)
    signs = [sum(n in turn.scope for turn in turns(words)) % 2 for n in range(len(words))]
    return {word.text for word, sign in zip(words, signs, strict=True) if sign and word.is_content}


@pytest.mark.parametrize(
    ("text", "contrary"),
    [
        ("The baby slept, but the twins did not.", {"twins"}),
        ("The hotel has a pool but no gym.", {"gym"}),
        ("Tom went to bed and forgot to lock the door.", {"lock", "door"}),
        ("Rosalind almost missed her flight.", {"missed"}),
        ("Everybody passed the exam except Lukas.", {"lukas"}),
        ("The shop is open on all days but Sunday.", {"sunday"}),
        ("They lived above the shop.", set()),
        ("The plan is good.", set()),
    ],
)
def test_what_a_text_says_not_to_be_so(text: str, contrary: set[str]) -> None:
    assert turned(text) == contrary


def test_a_list_of_things_is_one_clause_and_a_new_verb_begins_another() -> None:
    assert {word.clause for word in read("She bought bread and milk")} == {0}
    ate, left = (
        next(w for w in read("Tom ate the soup and dropped the bread") if w.text == t)
        for t in ("soup", "bread")
    )
    assert ate.clause != left.clause and ate.sentence == left.sentence


def test_the_sentence_around_a_span() -> None:
    text = "It rained. Anna lent Ben a tent. They slept."
    start, end = sentence_around(text, Span(25, 31))
    assert text[start:end].strip() == "Anna lent Ben a tent."
    assert sentence_around(text, Span(0, len(text))) == Span(0, len(text))


def test_words_apart_as_corpora_write_them_turn_their_clause_too() -> None:
    apart, joined = (
        read("he did n't eat the soup . he ate bread ."),
        read("he didn't eat the soup. he ate bread."),
    )
    assert [word.text for word in apart if word.denies] == ["n't"]
    scopes = [{text[n].lemma for turn in turns(text) for n in turn.scope} for text in (apart, joined)]
    assert {"eat", "soup"} <= scopes[0] & scopes[1] and not {"bread"} & (scopes[0] | scopes[1])
