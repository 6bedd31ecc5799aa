from kgqa.evaluation import near_duplicates
from kgqa.types import Example, Passage, Question


def example(passage: str, question: str, *answers: str) -> Example:
    return Example(Question(question, passage=Passage(passage)), concepts=answers)


OTHERS = [
    example(f"The {word} stood there.", f"Who saw the {word}?", f"the {word}")
    for word in ("cow", "sun", "rake")
]


def test_the_same_in_other_forms_of_the_words_is_found() -> None:
    asked = example("The pond has frozen hard.", "What do the twins put on?", "ice skates", "skates")
    near = example("The ponds froze hard, and the twin waits.", "What does she put on?", "Skates")
    (pair,) = near_duplicates([asked, *OTHERS[:1]], [*OTHERS[1:], near])
    assert (pair.measured, pair.trained) == (0, 2) and 0.5 <= pair.share <= 1


def test_another_answer_or_other_words_are_no_duplicate() -> None:
    asked = example("The pond has frozen hard.", "What do the twins put on?", "ice skates")
    other_answer = example("The pond has frozen hard.", "What do the twins put on?", "scarf")
    other_words = example("Marta walks on the rink of the school.", "What is on her feet?", "ice skates")
    assert not list(near_duplicates([asked], [other_answer, other_words, *OTHERS]))


def test_a_short_row_inside_a_long_one_is_no_duplicate() -> None:
    asked = example("Snow fell.", "What fell?", "snow")
    long = " ".join(
        f"The {word} of the village met the {word} of the town." for word in ("mayor", "baker", "smith")
    )
    assert not list(near_duplicates([asked], [example(f"Snow fell. {long}", "What fell?", "snow"), *OTHERS]))


def test_yes_and_no_and_no_answer_are_answers() -> None:
    yes, no = (Example(Question("Can a penguin swim?"), yes_no_label=verdict) for verdict in (True, False))
    assert [p.trained for p in near_duplicates([yes], [no, yes])] == [1]
    none = Example(Question("Who painted the barn?"))
    assert len(list(near_duplicates([none], [none]))) == 1
    assert not list(near_duplicates([], [none])) and not list(near_duplicates([none], []))
