from kgqa.text.augment.renaming import renamed
from kgqa.types import Example, Passage, Question, Span


def example(passage: str, question: str = "What did she use?", **gold: object) -> Example:
    return Example(Question(question, passage=Passage(passage)), **gold)  # type: ignore[arg-type]


def test_first_pronoun_becomes_a_person_and_the_rest_stays() -> None:
    asked = example("She planted tulips, and then she watered them.", concepts=("trowel",))
    for seed in range(20):
        (copy,) = renamed([asked], seed=seed, share=1.0)
        assert copy.question.passage_text.endswith(" planted tulips, and then she watered them.")
        assert not copy.question.passage_text.startswith("She") and copy.concepts == ("trowel",)
        assert copy.question.passage_text[0].isupper()


def test_a_name_changes_in_passage_and_question_alike() -> None:
    asked = example("On Monday Nadia cut the bread.", "What did Nadia cut it with?", concepts=("knife",))
    (copy,) = renamed([asked], seed=1, share=1.0)
    passage, question = copy.question.passage_text, copy.question.text
    assert "Nadia" not in passage + question and passage.startswith("On Monday ")
    assert passage.split()[2] == question.split()[2]


def test_spans_and_passages_without_persons_are_left_out() -> None:
    told = example("She stirred it with a spoon.", spans=(Span(17, 24),))
    nobody = example("It rained all day.", concepts=("umbrella",))
    assert not list(renamed([told, nobody], seed=0, share=1.0))


def test_the_same_for_one_seed() -> None:
    asked = [example(f"He fixed roof {i}.", concepts=("hammer",)) for i in range(30)]
    assert list(renamed(asked, seed=3)) == list(renamed(asked, seed=3))
    assert 5 < len(list(renamed(asked, seed=3))) < 25
