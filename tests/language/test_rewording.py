"""A question is read without hedges, and with its question word first."""

from __future__ import annotations

import pytest

from kgqa.language.rewording import reworded


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("Where did she probably hang it?", "Where did she hang it?"),
        ("What was it, most likely?", "What was it?"),
        ("What was most likely in the jar?", "What was in the jar?"),
        ("Who was it, do you think, that Olaf rang up?", "Who was it that Olaf rang up?"),
        ("By whom was he sent off, in all likelihood?", "By whom was he sent off?"),
        ("What do you think was alight?", "What was alight?"),
        ("What do you think made him stop?", "What made him stop?"),
        ("Where do you suppose she hung the coat?", "Where did she hang the coat?"),
        ("How many eggs do you think he ate?", "How many eggs did he eat?"),
        ("The wet coat was hung where?", "Where was the wet coat hung?"),
        ("Pim was how old?", "How old was Pim?"),
        ("Gerlinde was trying to do what?", "What was Gerlinde trying to do?"),
        ("The little jar held what?", "What did the little jar hold?"),
        ("Mr Boateng was what by trade?", "What was Mr Boateng by trade?"),
        ("The blackbird sang at what time of day?", "What time of day did the blackbird sing at?"),
    ],
)
def test_a_question_is_said_plainly(question: str, plain: str) -> None:
    assert reworded(question, "en") == plain
    assert reworded(plain, "en") == plain


@pytest.mark.parametrize(
    "question",
    [
        "Is a frightened child likely to hide?",
        "What is she most likely to do?",
        "What do you think of it?",
        "What did you say?",
        "Did anybody know how to open it?",
        "Was he awake when she left?",
        "In what month did it happen?",
        "The chair that tipped belonged to whom?",
        "what  is it",
    ],
)
def test_other_questions_stay(question: str) -> None:
    assert reworded(question, "en") == question


def test_a_language_without_a_table_stays() -> None:
    assert reworded("Wo ist er probably?", "de") == "Wo ist er probably?"
