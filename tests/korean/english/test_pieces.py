from __future__ import annotations

from kgqa.korean.english.nouns import Piece, joined
from kgqa.types import Span


def test_pieces_become_sentences_whose_words_lead_back():
    gloss = joined(
        [
            Piece("I"),
            Piece("dug", 6, 8),
            Piece("the"),
            Piece("ground", 0, 1),
            Piece("."),
            Piece("why", 9, 10),
            Piece("?"),
        ]
    )
    assert gloss.text == "I dug the ground. Why?"
    at = gloss.text.index("ground")
    assert gloss.original(at, at + 6) == Span(0, 1)
    assert gloss.original(2, at + 6) == Span(0, 8), "what lies between is taken along"


def test_words_that_stand_for_nothing_lead_nowhere():
    gloss = joined([Piece("I"), Piece("dug", 6, 8)])
    assert gloss.original(0, 1) is None


def test_empty_pieces_leave_no_gap():
    assert joined([Piece("we"), Piece(""), Piece("ate"), Piece(","), Piece("too")]).text == "We ate, too"
    assert joined([]).text == ""
